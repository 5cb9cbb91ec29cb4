import { arrayAt, type Document, objectAt } from './document.ts';

/** The paths of the Server Objects' URLs (OpenAPI 3.1 §4.8.5), with each value that their variables may have. */
export function basePathsOf({ root }: Pick<Document, 'root'>): string[] {
  const servers = arrayAt(root.servers).map(objectAt);
  const paths = servers.flatMap(({ url, variables }) => {
    const urls = Object.entries(objectAt(variables)).reduce(
      (made, [name, variable]) => {
        const { enum: values, default: preset } = objectAt(variable);
        const choices = arrayAt(values).length > 0 ? arrayAt(values) : [preset];
        return made.flatMap((text) => choices.map((choice) => text.replaceAll(`{${name}}`, String(choice))));
      },
      [String(url)],
    );
    return urls.map((text) => (URL.parse(text, 'http://host/')?.pathname ?? '').replace(/\/+$/, ''));
  });
  return paths.length > 0 ? [...new Set(paths)] : [''];
}
