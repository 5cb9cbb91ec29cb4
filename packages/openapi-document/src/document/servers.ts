import { arrayAt, type Document, type Finding, type Json, objectAt } from './document.ts';
import { parameterNames } from './path-template.ts';

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

/** Checks that the variables of each server URL are declared. */
export const checkServers = (root: Json): Finding[] =>
  arrayAt(root.servers).flatMap((server, index) => {
    const { url, variables } = objectAt(server);
    return parameterNames(String(url))
      .filter((name) => objectAt(variables)[name] === undefined)
      .map((name) => ({ pointer: `/servers/${index}/url`, message: `the variable {${name}} is not declared` }));
  });
