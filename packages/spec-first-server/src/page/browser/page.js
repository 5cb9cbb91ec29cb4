// Swagger UI promises its plugin API, and not the names of its own parts. Those stay the same within a minor version,
// which package.json therefore pins: the components `responseBody`, `HighlightCode` and `DeepLink`, the actions
// `authorize` and `logout`, the selector `authorized`.

const dark = matchMedia('(prefers-color-scheme: dark)');
const followColorScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
followColorScheme();
dark.addEventListener('change', followColorScheme);

/** Formats JSON again and keeps each number as it is written. Swagger UI itself rounds integers beyond 2^53. */
const formatJson = (text, indent) => {
  const keepNumber = (_key, value, { source }) => (typeof value === 'number' ? JSON.rawJSON(source) : value);
  return JSON.stringify(JSON.parse(text, keepNumber), null, indent);
};

const exactNumbers = ({ React: { createElement }, getComponent }) => ({
  wrapComponents: {
    responseBody: (ResponseBody) => (props) => {
      try {
        if (!/json/i.test(props.contentType)) return createElement(ResponseBody, props);
        const options = { language: 'json', downloadable: true, fileName: 'response.json', canCopy: true };
        const code = createElement(getComponent('HighlightCode', true), options, formatJson(props.content, 2));
        return createElement('div', null, createElement('h5', null, 'Response body'), code);
      } catch {
        return createElement(ResponseBody, props);
      }
    },
  },
});

const KEY = `credentials of ${location.pathname}`;

/** Keeps credentials until the tab is closed. Swagger UI's own option keeps them in the browser for good. */
const keepCredentials = ({ authSelectors }) => {
  const keep = (original) => (given) => {
    const action = original(given);
    sessionStorage.setItem(KEY, JSON.stringify(authSelectors.authorized()));
    return action;
  };
  return { statePlugins: { auth: { wrapActions: { authorize: keep, logout: keep } } } };
};

/** A summary is a button. It must not contain a link. */
const noLinkInButton = ({ React: { createElement } }) => ({
  wrapComponents: { DeepLink: (DeepLink) => (props) => createElement(DeepLink, { ...props, enabled: false }) },
});

const spec = await (await fetch('openapi.json')).json();
// The document has the URL of its server relative to its own. Readers want to see all of it.
for (const server of spec.servers)
  server.url = new URL(server.url, new URL('openapi.json', location)).href.replace(/\/$/, '');

// Swagger UI knows neither parents nor summaries of tags (OpenAPI 3.2): their descriptions name them.
const { tags = [] } = spec;
const family = (tag) => [tag, ...tags.filter(({ parent }) => parent === tag.name).flatMap(family)];
spec.tags = tags
  .filter(({ parent }) => !tags.some(({ name }) => name === parent))
  .flatMap(family)
  .map(({ summary, parent, description, ...tag }) => {
    const texts = [summary, parent && `Part of ${parent}.`, description];
    return { ...tag, description: texts.filter(Boolean).join(' – ') };
  });

const ui = SwaggerUIBundle({
  spec,
  dom_id: '#swagger-ui',
  plugins: [exactNumbers, keepCredentials, noLinkInButton],
  deepLinking: true,
  displayRequestDuration: true,
  syntaxHighlight: { theme: 'obsidian' },
  tryItOutEnabled: document.querySelector('#swagger-ui').dataset.tryItOut === 'true',
  validatorUrl: null,
  onComplete() {
    for (const [name, { value }] of Object.entries(JSON.parse(sessionStorage.getItem(KEY) ?? '{}'))) {
      if (typeof value === 'string') ui.preauthorizeApiKey(name, value);
      else if (value?.username) ui.preauthorizeBasic(name, value.username, value.password);
    }
  },
});
