const dark = matchMedia('(prefers-color-scheme: dark)');
const followColorScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
followColorScheme();
dark.addEventListener('change', followColorScheme);

/** Shows the full URL of the server. The document itself has a URL relative to its own. */
const fullServerUrl = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        updateSpec: (update) => (text) => {
          const served = JSON.parse(text);
          const server = new URL(served.servers[0].url, new URL('openapi.json', location));
          return update(JSON.stringify({ ...served, servers: [{ url: server.href.replace(/\/$/, '') }] }));
        },
      },
    },
  },
});

/** Formats JSON again and keeps each number as it is written. Swagger UI itself rounds integers beyond 2^53. */
const formatJson = (text, indent) => {
  const keepNumber = (_key, value, { source }) => (typeof value === 'number' ? JSON.rawJSON(source) : value);
  return JSON.stringify(JSON.parse(text, keepNumber), null, indent);
};

const exactNumbers = ({ React: { createElement }, getComponent }) => ({
  wrapComponents: {
    responseBody: (ResponseBody) => (props) => {
      let json;
      try {
        if (!/json/i.test(props.contentType)) throw new TypeError('not JSON');
        json = formatJson(props.content, 2);
      } catch {
        return createElement(ResponseBody, props);
      }
      const options = { language: 'json', downloadable: true, fileName: 'response.json', canCopy: true };
      return createElement(
        'div',
        null,
        createElement('h5', null, 'Response body'),
        createElement(getComponent('HighlightCode', true), options, json),
      );
    },
  },
});

/** A string literal of JavaScript and of Python. */
const literal = (text) => (/['\\\n\r]/.test(text) ? JSON.stringify(text) : `'${text}'`);

const compact = (body) => {
  try {
    return formatJson(body);
  } catch {
    return body;
  }
};

const headerLines = (headers, indent) =>
  [...headers].map(([name, value]) => `${indent}${literal(name)}: ${literal(value)},\n`).join('');

const inJavaScript = ({ url, method, headers, body }) => `const response = await fetch(${literal(url)}, {
  method: ${literal(method)},
  headers: {
${headerLines(headers, '    ')}  },
${body ? `  body: ${literal(compact(body))},\n` : ''}});
console.log(response.status, await response.text());`;

const inPython = ({ url, method, headers, body }) => `import requests

response = requests.request(
    ${literal(method)},
    ${literal(url)},
    headers={
${headerLines(headers, '        ')}    },
${body ? `    data=${literal(compact(body))}.encode(),\n` : ''})
print(response.status_code, response.text)`;

/** Shows the request in curl, JavaScript and Python. A form with files is shown in curl only. */
const snippets = ({ React: { createElement }, getComponent, fn }) => ({
  wrapComponents: {
    curl: () => (props) => {
      const request = props.request.toObject();
      const texts = [['curl', 'bash', fn.requestSnippetGenerator_curl_bash(props.request)]];
      if (!request.body || typeof request.body === 'string') {
        texts.push(['JavaScript', 'javascript', inJavaScript(request)], ['Python', 'javascript', inPython(request)]);
      }
      const name = `${request.method} ${request.url}`;
      return texts.map(([title, language, text]) =>
        createElement(
          'details',
          { key: title, name, open: title === 'curl', className: 'snippet' },
          createElement('summary', null, title),
          createElement(getComponent('HighlightCode', true), { language, canCopy: true }, text),
        ),
      );
    },
  },
});

/** Keeps credentials until the tab is closed. Swagger UI's own option keeps them in the browser for good. */
const keepCredentials = () => {
  const key = `credentials of ${location.pathname}`;
  return {
    statePlugins: {
      auth: {
        wrapActions: {
          persistAuthorizationIfNeeded:
            (_original, { authSelectors }) =>
            () =>
              sessionStorage.setItem(key, JSON.stringify(authSelectors.authorized())),
        },
      },
      configs: {
        wrapActions: {
          loaded:
            (original, { authActions }) =>
            (payload) => {
              original(payload);
              authActions.restoreAuthorization({ authorized: JSON.parse(sessionStorage.getItem(key) ?? '{}') });
            },
        },
      },
    },
  };
};

/** The types that a schema and the parts of its `allOf` declare. */
const typesIn = ({ type, properties, allOf = [] }) => {
  const own = type ?? (properties && 'object');
  return [...(own ? [own] : []), ...allOf.flatMap(typesIn)];
};

/** Shows a schema with `allOf` as an object where its parts are objects. Swagger UI shows `(any & object)`. */
const typeOfParts = ({ React: { createElement } }) => ({
  wrapComponents: {
    JSONSchema202012KeywordType: (KeywordType) => (props) => {
      const { allOf, ...rest } = props.schema;
      const [type, ...others] = allOf ? new Set(typesIn(props.schema)) : [];
      const schema = type && others.length === 0 ? { ...rest, type } : props.schema;
      return createElement(KeywordType, { ...props, schema });
    },
  },
});

/** A summary is a button. It must not contain a link. */
const noLinkInButton = ({ React: { createElement } }) => ({
  wrapComponents: { DeepLink: (DeepLink) => (props) => createElement(DeepLink, { ...props, enabled: false }) },
});

/** Accessible names of the parts and controls that Swagger UI leaves without a name, or gives a name that is not their text. */
const names = {
  '.information-container': () => 'About',
  '.schemes-server-container': () => 'Server and credentials',
  '#servers': () => 'Server',
  '.examples-select-element': () => 'Example',
  '.body-param__text': () => 'Request body',
  '.modal-ux': () => 'Available authorizations',
  '.close-modal': () => 'Close',
  '.responses-table[role]': (table) => {
    const [method, path] = table.closest('.opblock').querySelectorAll('.opblock-summary-method, [data-path]');
    return `Responses of ${method.textContent} ${path.dataset.path}`;
  },
  'button.auth': ({ textContent }) => textContent,
  'tr[data-param-name] :is(input, select, textarea)': (control) => control.closest('tr').dataset.paramName,
  'tr[data-property-name] :is(input, select, textarea)': (control) => control.closest('tr').dataset.propertyName,
};

const page = document.querySelector('#swagger-ui');
new MutationObserver(() => {
  for (const [selector, nameOf] of Object.entries(names)) {
    for (const control of page.querySelectorAll(selector)) control.ariaLabel = nameOf(control);
  }
  for (const part of page.querySelectorAll('.information-container, .schemes-server-container')) part.role = 'region';
  for (const dialog of page.querySelectorAll('.modal-ux')) dialog.role = 'dialog';
  // Swagger UI has no second level, and no fifth one in its dialog.
  for (const heading of page.querySelectorAll('h3, h4, h5, h6')) {
    heading.ariaLevel = heading.matches('.modal-ux h6') ? 4 : heading.tagName[1] - 1;
  }
}).observe(page, { childList: true, characterData: true, subtree: true });

SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  plugins: [fullServerUrl, exactNumbers, snippets, keepCredentials, typeOfParts, noLinkInButton],
  deepLinking: true,
  displayRequestDuration: true,
  syntaxHighlight: { theme: 'obsidian' },
  tryItOutEnabled: page.dataset.tryItOut === 'true',
  validatorUrl: null,
});
