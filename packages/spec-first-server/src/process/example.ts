import { type Document, type Json, type MediaType, type Operation, stringifyJson } from 'openapi-document';

/**
 * A curl command for the first operation of the document that needs a token, which is the shell's variable `TOKEN`; for the
 * first operation if none needs one. The body is an example of the document, or generated from its schema.
 *
 * @param url the base URL of the document's paths, without a slash at the end.
 * @returns `undefined` if each operation needs parameters, another body than JSON, or other credentials.
 */
export async function exampleLine({ root, operations, securitySchemes }: Document, url: string) {
  const headersOf = ({ security: [first = {}] }: Operation) =>
    Object.keys(first).map((key) => {
      const { type, scheme = 'bearer', in: location, name } = securitySchemes[key] ?? {};
      if (type === 'apiKey') return location === 'header' && `"${name}: $TOKEN"`;
      return /^bearer$/i.test(String(scheme)) && '"Authorization: Bearer $TOKEN"';
    });
  const jsonOf = ({ requestBody }: Operation) => requestBody?.media.find(({ kind }) => kind === 'json');
  const callable = operations.filter(
    (operation) =>
      operation.template.isReachable &&
      !operation.parameters.some(({ required }) => required) &&
      (operation.requestBody === undefined || jsonOf(operation) !== undefined) &&
      !headersOf(operation).includes(false),
  );
  const operation = callable.find((each) => headersOf(each).length > 0) ?? callable[0];
  if (operation === undefined) return undefined;
  const media = jsonOf(operation);
  const method = operation.method.toUpperCase();
  return [
    'curl',
    ...(method === (media ? 'POST' : 'GET') ? [] : ['-X', method]),
    url + operation.template.write(String),
    ...headersOf(operation).flatMap((header) => ['-H', header]),
    ...(media ? ['-H', quoted(`Content-Type: ${media.type}`), '-d', quoted(await bodyOf(root, media))] : []),
  ].join(' ');
}

/** Quotes an argument for a POSIX shell (Shell Command Language §2.2.2). */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

async function bodyOf(root: Json, media: MediaType): Promise<string> {
  const [example] = media.examples();
  if (example !== undefined) return stringifyJson(example.value) ?? '{}';
  const { valuesOf } = await import('openapi-document/samples');
  return stringifyJson(valuesOf(root, media.schema, 'readOnly').next().value) ?? '{}';
}

export const withToken = (example: string, token = '$TOKEN'): string => example.replaceAll('$TOKEN', () => token);
