import { asArray, asObject, type Json } from './document.ts';

/** The paths of the Server Objects' URLs (OpenAPI 3.1 §4.8.5), with each value that their variables may have. */
export function basePathsOf(root: Json): readonly [string, ...string[]] {
  const paths = asArray(root.servers)
    .map(asObject)
    .flatMap(({ url, variables }) => {
      const urls = Object.entries(asObject(variables)).reduce(
        (made, [name, variable]) => {
          const { enum: values, default: preset } = asObject(variable);
          const choices = asArray(values).length > 0 ? asArray(values) : [preset];
          return made.flatMap((text) => choices.map((choice) => text.replaceAll(`{${name}}`, String(choice))));
        },
        [String(url)],
      );
      return urls.map((text) => {
        const path = URL.parse(lacksScheme(text) ? `http://${text}` : text, 'http://host/')?.pathname ?? '';
        return path.startsWith('/') ? path.replace(/\/+$/, '') : '';
      });
    });
  const [first = '', ...others] = new Set(paths);
  return [first, ...others];
}

/** Whether a server URL begins with a host and a port: `localhost:3000/v1` is a URL of the scheme `localhost`. */
export const lacksScheme = (url: string): boolean => /^[\w.-]+:\d+(\/|$)/.test(url);
