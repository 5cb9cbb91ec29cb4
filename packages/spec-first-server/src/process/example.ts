import {
  asArray,
  asObject,
  type Document,
  examplesOf,
  isObject,
  type Json,
  type MediaType,
  type Operation,
  type Parameter,
  resolveRef,
  securitySchemesOf,
  writeParameter,
} from 'openapi-document';

/** Stands in an example for a token. */
export const TOKEN_PLACEHOLDER = '<TOKEN>';

/**
 * A curl command for the first operation of the document that needs a token, with {@link TOKEN_PLACEHOLDER} in its place; for the
 * first operation if none needs one. Values are the examples of the document, or generated from its schemas.
 *
 * @param url the base URL of the document's paths, without a slash at the end.
 * @returns `undefined` if no operation can be called with tokens and parameters of these kinds: in headers, in the path, in
 *   the query; and with a body of JSON or without one.
 */
export async function exampleLine(
  { root }: Document,
  operations: readonly Operation[],
  url: string,
): Promise<string | undefined> {
  const schemes = securitySchemesOf(root);
  const tokensOf = ({ security: [first = {}] }: Operation) =>
    Object.keys(first).map((key) => {
      const { type, scheme = 'bearer', in: where, name } = schemes[key] ?? {};
      if (type === 'apiKey') return where === 'header' ? `${name}: ${TOKEN_PLACEHOLDER}` : undefined;
      return /^basic$/i.test(String(scheme))
        ? undefined
        : `Authorization: ${capital(String(scheme))} ${TOKEN_PLACEHOLDER}`;
    });
  const callable = operations.filter(
    (operation) =>
      operation.template.isReachable &&
      operation.parameters.every(({ required, in: where }) => !required || where === 'path' || where === 'query') &&
      (operation.requestBody?.media.some(({ kind }) => kind === 'json') ?? true) &&
      !tokensOf(operation).includes(undefined),
  );
  const operation = callable.find((each) => tokensOf(each).length > 0) ?? callable[0];
  if (operation === undefined) return undefined;

  const inPath = new Map<string, string>();
  const query: string[] = [];
  for (const parameter of operation.parameters.filter(({ required }) => required)) {
    const text = writeParameter(parameter, (await exampleOf(root, parameter)) ?? 'string');
    if (parameter.in === 'path') inPath.set(parameter.name, text);
    else query.push(text);
  }
  const media = operation.requestBody?.media.find(({ kind }) => kind === 'json');
  const headers = [...tokensOf(operation), media && `Content-Type: ${media.type}`];
  const path = operation.template.write((name) => inPath.get(name) ?? `{${name}}`);
  const target = `${url}${path}${query.length > 0 ? `?${query.join('&')}` : ''}`;
  const method = operation.method.toUpperCase();
  return [
    'curl',
    ...(method === (media ? 'POST' : 'GET') ? [] : ['-X', method]),
    /^[\w:/.~%-]+$/.test(target) ? target : quoted(target),
    ...headers.flatMap((header) => (header ? ['-H', quoted(header)] : [])),
    ...(media ? ['-d', quoted(JSON.stringify((await exampleOf(root, media)) ?? {}))] : []),
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

/** The first example of a parameter or a body, or of its schema; without one, a value that is made from the schema. */
async function exampleOf(root: Json, { source, schema }: Parameter | MediaType): Promise<unknown> {
  const holders = [source, ...Object.values(asObject(source.content)).map(asObject)];
  const [first] = holders.flatMap((holder) => examplesOf(root, { source: holder, pointer: '' }));
  const { example, examples } = resolveRef(root, schema) ?? {};
  const shown = first?.value ?? example ?? asArray(examples)[0];
  if (shown !== undefined || !isObject(schema)) return shown;
  const { valuesOf } = await import('openapi-document/samples');
  return valuesOf(root, schema, 'readOnly').find((value) => value !== undefined);
}
