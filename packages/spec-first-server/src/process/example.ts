import {
  asArray,
  type Document,
  isObject,
  type Json,
  type MediaType,
  type Operation,
  resolveRef,
  stringifyJson,
} from 'openapi-document';

/** Stands in an example for a token. */
export const TOKEN_PLACEHOLDER = '<TOKEN>';

/**
 * A curl command for the first operation of the document that needs a token, with {@link TOKEN_PLACEHOLDER} in its place; for the
 * first operation if none needs one. The body is an example of the document, or generated from its schema.
 *
 * @param url the base URL of the document's paths, without a slash at the end.
 * @returns `undefined` if each operation needs parameters, another body than JSON, or other credentials than headers.
 */
export async function exampleLine(
  { root, operations, securitySchemes: schemes }: Document,
  url: string,
): Promise<string | undefined> {
  const tokensOf = ({ security: [first = {}] }: Operation) =>
    Object.keys(first).map((key) => {
      const { type, scheme = 'bearer', in: where, name } = schemes[key] ?? {};
      if (type === 'apiKey') return where === 'header' ? `${name}: ${TOKEN_PLACEHOLDER}` : undefined;
      return /^basic$/i.test(String(scheme))
        ? undefined
        : `Authorization: ${capital(String(scheme))} ${TOKEN_PLACEHOLDER}`;
    });
  const jsonOf = ({ requestBody }: Operation) => requestBody?.media.find(({ kind }) => kind === 'json');
  const callable = operations.filter(
    (operation) =>
      operation.template.isReachable &&
      !operation.parameters.some(({ required }) => required) &&
      (operation.requestBody === undefined || jsonOf(operation) !== undefined) &&
      !tokensOf(operation).includes(undefined),
  );
  const operation = callable.find((each) => tokensOf(each).length > 0) ?? callable[0];
  if (operation === undefined) return undefined;

  const media = jsonOf(operation);
  const headers = [...tokensOf(operation), media && `Content-Type: ${media.type}`];
  const method = operation.method.toUpperCase();
  return [
    'curl',
    ...(method === (media ? 'POST' : 'GET') ? [] : ['-X', method]),
    url + operation.template.write(String),
    ...headers.flatMap((header) => (header ? ['-H', quoted(header)] : [])),
    ...(media ? ['-d', quoted(stringifyJson((await exampleOf(root, media)) ?? {}) ?? '')] : []),
  ].join(' ');
}

/** An example with the token in its place; without one, with the shell's variable `TOKEN`. */
export function withToken(example: string, token: string | undefined): string {
  if (token !== undefined) return example.replaceAll(TOKEN_PLACEHOLDER, token);
  return example
    .replace(/'([^'"$`\\]*)<TOKEN>([^'"$`\\]*)'/g, '"$1$TOKEN$2"')
    .replaceAll(TOKEN_PLACEHOLDER, `'"$TOKEN"'`);
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Quotes an argument for a POSIX shell (Shell Command Language §2.2.2). */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The first example of a body, or of its schema; without one, a value that is made from the schema. */
async function exampleOf(root: Json, media: MediaType): Promise<unknown> {
  const { schema } = media;
  const [first] = media.examples();
  const { example, examples } = resolveRef(root, schema) ?? {};
  const shown = first?.value ?? example ?? asArray(examples)[0];
  if (shown !== undefined || !isObject(schema)) return shown;
  const { valuesOf } = await import('openapi-document/samples');
  return valuesOf(root, schema, 'readOnly').find((value) => value !== undefined);
}
