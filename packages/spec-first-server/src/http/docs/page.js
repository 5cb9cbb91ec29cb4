const dark = matchMedia('(prefers-color-scheme: dark)');
const followColorScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
followColorScheme();
dark.addEventListener('change', followColorScheme);

/** Shows in full where requests go; the document itself says it relative to its own URL. */
const serverInFull = () => ({
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

/** Shows every number of a JSON response as it was sent. Swagger UI itself rounds integers beyond 2^53. */
const exactNumbers = (system) => ({
  wrapComponents: {
    responseBody: (ResponseBody) => (props) => {
      let json;
      try {
        if (!/json/i.test(props.contentType)) throw new TypeError('not JSON');
        json = JSON.parse(props.content, (_key, value, { source }) =>
          typeof value === 'number' ? JSON.rawJSON(source) : value,
        );
      } catch {
        return system.React.createElement(ResponseBody, props);
      }
      return system.React.createElement(
        'div',
        null,
        system.React.createElement('h5', null, 'Response body'),
        system.React.createElement(
          system.getComponent('HighlightCode', true),
          { language: 'json', downloadable: true, fileName: 'response.json', canCopy: true },
          JSON.stringify(json, null, 2),
        ),
      );
    },
  },
});

SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  plugins: [serverInFull, exactNumbers],
  deepLinking: true,
  displayRequestDuration: true,
  syntaxHighlight: { theme: 'obsidian' },
  validatorUrl: null,
});
