// Swagger UI documents its plugin API, but not the names of its components and actions. This file
// uses the components `responseBody`, `HighlightCode` and `DeepLink`, the actions `executeRequest`,
// `clearResponse` and `setResponse`, and the member `userFetch` of requests. Their names stay the
// same within a minor version, so package.json pins that version.

const dark = matchMedia('(prefers-color-scheme: dark)');
const followColorScheme = () =>
  document.documentElement.classList.toggle('dark-mode', dark.matches);
followColorScheme();
dark.addEventListener('change', followColorScheme);

/** Formats JSON, and keeps each number as it is written. */
const formatJson = (text) => {
  const keepNumber = (_key, value, { source }) =>
    typeof value === 'number' ? JSON.rawJSON(source) : value;
  return JSON.stringify(JSON.parse(text, keepNumber), null, 2);
};

const STREAM_TYPES = /event-stream|jsonl|ndjson|json-seq|multipart\/mixed/i;

/** The number of characters at the end of a stream that the page shows. */
const MAX_STREAM = 100_000;

/** The interval between two updates of a stream, in milliseconds. */
const UPDATE_INTERVAL = 100;

/** The AbortController of the last request of each operation, by method and path. */
const streams = new Map();

/** Sends a request as `fetch` does, and shows a stream until it ends or is aborted. */
async function fetchAndShow(url, request, signal, show) {
  const response = await fetch(url, { ...request, signal });
  if (!STREAM_TYPES.test(response.headers.get('content-type') ?? '') || !response.body)
    return response;
  const { ok, status, statusText } = response;
  const headers = Object.fromEntries(response.headers);
  let text = '';
  let timer;
  const update = () => {
    timer = undefined;
    if (!signal.aborted) show({ url, ok, status, statusText, headers, text, data: text });
  };
  update();
  try {
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text = (text + chunk).slice(-MAX_STREAM);
      timer ??= setTimeout(update, UPDATE_INTERVAL);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    // Never resolves, or Swagger UI would show a stream that the user has cleared.
    await new Promise(() => {});
  } finally {
    clearTimeout(timer);
  }
  return new Response(text, { status, statusText, headers });
}

/**
 * Gives each alternative of a discriminator the value that selects it, so that examples contain it.
 * Alternatives are in `oneOf` or `anyOf`, or extend the schema of the discriminator by `allOf`.
 */
function nameAlternatives({ components: { schemas = {} } = {}, ...rest }) {
  const refOf = (name) => `#/components/schemas/${name}`;
  const select = (name, property, mapping) => {
    const schema = schemas[name];
    const isMapped = ([, target]) => target === refOf(name) || target === name;
    const value = Object.entries(mapping).find(isMapped)?.[0] ?? name;
    const { $ref: _, ...declared } = schema.properties?.[property] ?? { type: 'string' };
    schema.properties = { ...schema.properties, [property]: { enum: [value], ...declared } };
  };
  const visit = (value, ref) => {
    if (typeof value !== 'object' || value === null) return;
    const { propertyName, mapping = {} } = value.discriminator ?? {};
    if (typeof propertyName === 'string') {
      const alternatives = [value.oneOf ?? [], value.anyOf ?? []].flat();
      for (const [name, { allOf = [] }] of Object.entries(schemas)) {
        const isChild = allOf.some(({ $ref }) => $ref !== undefined && $ref === ref);
        const isAlternative = alternatives.some(({ $ref }) => $ref === refOf(name));
        if (isChild || isAlternative) select(name, propertyName, mapping);
      }
      // If there is a mapping, Swagger UI omits the property from examples of schemas that are not
      // in it. The schema with the discriminator is usually not in it, so the mapping is removed.
      value.discriminator = { propertyName };
    }
    for (const member of Object.values(value)) visit(member);
  };
  for (const [name, schema] of Object.entries(schemas)) visit(schema, refOf(name));
  visit(rest);
}

/** Accessible names and roles of parts that have none in Swagger UI, by selector. */
const ACCESSIBLE_NAMES = [
  ['#servers', () => 'Server'],
  ['.examples-select-element', () => 'Example'],
  ['.body-param__text', () => 'Request body'],
  [
    '[data-param-name] :is(input, select, textarea)',
    (control) => control.closest('[data-param-name]').dataset.paramName,
  ],
  ['.responses-table[role=region]', ({ id }) => id],
  ['.modal-ux', () => 'Credentials'],
  ['.modal-ux .close-modal', () => 'Close'],
  ['.modal-ux .modal-btn', ({ textContent }) => textContent],
  ['.modal-ux h6', () => null, 'presentation'],
  ['.information-container', () => 'About', 'region'],
  ['.scheme-container', () => 'Server and credentials', 'region'],
];

/** Names parts of the page for assistive technology (WCAG 4.1.2). */
function nameParts() {
  for (const [selector, nameOf, role] of ACCESSIBLE_NAMES) {
    for (const element of document.querySelectorAll(selector)) {
      element.ariaLabel = nameOf(element);
      if (role) element.role = role;
    }
  }
}

/**
 * `persistAuthorization` stores credentials in `localStorage`, which outlives the tab. This page
 * stores them in `sessionStorage`, under keys that contain the path of the page.
 */
const storageKey = (item) => `${item} ${location.pathname}`;
Object.defineProperty(window, 'localStorage', {
  value: {
    getItem: (item) => sessionStorage.getItem(storageKey(item)),
    setItem: (item, value) => sessionStorage.setItem(storageKey(item), value),
  },
});

/** Changes components and actions of Swagger UI. */
const plugin = ({ React: { createElement }, getComponent }) => ({
  wrapComponents: {
    // Removes the link from the summary of an operation, which is a button.
    DeepLink: (DeepLink) => (props) => createElement(DeepLink, { ...props, enabled: false }),
    // Swagger UI rounds integers beyond 2^53.
    responseBody: (ResponseBody) => (props) => {
      try {
        if (!/json/i.test(props.contentType)) return createElement(ResponseBody, props);
        const options = {
          language: 'json',
          downloadable: true,
          fileName: 'response.json',
          canCopy: true,
        };
        const code = createElement(
          getComponent('HighlightCode', true),
          options,
          formatJson(props.content),
        );
        return createElement('div', null, createElement('h5', null, 'Response body'), code);
      } catch {
        return createElement(ResponseBody, props);
      }
    },
  },
  statePlugins: {
    spec: {
      wrapActions: {
        // Shows streams as they arrive. Otherwise, Swagger UI would wait for the end of a response.
        executeRequest:
          (execute, { specActions }) =>
          (request) => {
            const { pathName, method } = request;
            const key = `${method} ${pathName}`;
            streams.get(key)?.abort();
            const controller = new AbortController();
            streams.set(key, controller);
            const show = (response) => specActions.setResponse(pathName, method, response);
            const userFetch = (url, init) => fetchAndShow(url, init, controller.signal, show);
            return execute({ ...request, userFetch });
          },
        clearResponse: (clear) => (path, method) => {
          streams.get(`${method} ${path}`)?.abort();
          return clear(path, method);
        },
      },
    },
  },
});

const spec = await (await fetch('openapi.json')).json();
// Shows the complete URL of the server, which is relative in the document.
for (const server of spec.servers)
  server.url = new URL(server.url, new URL('openapi.json', location)).href.replace(/\/$/, '');

// Swagger UI ignores parents and summaries of tags (OpenAPI 3.2), so these are added to the
// descriptions.
const { tags = [] } = spec;
const withChildren = (tag) => [
  tag,
  ...tags.filter(({ parent }) => parent === tag.name).flatMap(withChildren),
];
spec.tags = tags
  .filter(({ parent }) => !tags.some(({ name }) => name === parent))
  .flatMap(withChildren)
  .map(({ summary, parent, description, ...tag }) => {
    const texts = [summary, parent && `Part of ${parent}.`, description];
    return { ...tag, description: texts.filter(Boolean).join(' – ') };
  });

/** Swagger UI shows no schemas of items. */
function inline(value) {
  if (typeof value !== 'object' || value === null) return;
  if (value.itemSchema !== undefined) value.schema ??= value.itemSchema;
  for (const member of Object.values(value)) inline(member);
}
inline(spec.paths);

nameAlternatives(spec);
new MutationObserver(nameParts).observe(document.body, { subtree: true, childList: true });

SwaggerUIBundle({
  spec,
  dom_id: '#swagger-ui',
  plugins: [plugin],
  deepLinking: true,
  displayRequestDuration: true,
  syntaxHighlight: { theme: 'obsidian' },
  tryItOutEnabled: document.querySelector('#swagger-ui').dataset.tryItOut === 'true',
  validatorUrl: null,
  persistAuthorization: true,
});
