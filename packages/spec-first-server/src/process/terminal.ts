import { styleText } from 'node:util';
import { type Document, type Json, type MediaType, type Operation, stringifyJson } from 'openapi-document';
import { type Config, SERVER_VARIABLES, type Variable, type Variables } from './configuration.ts';

const FEW = 10;

/** What a start tells: where the service is, and what is left to write. */
export type Started = Awaited<ReturnType<typeof describeStart>>;

/**
 * @param listensAt the server's URL.
 * @param own `missing`: the operationIds of the operations that have no handler.
 */
export async function describeStart(
  { DOCS }: Config,
  document: Document,
  listensAt: string,
  own: {
    readonly store: string | undefined;
    readonly metrics: string | undefined;
    readonly missing: readonly string[];
  },
) {
  // A wildcard address as one that a client on this machine can use.
  const reachable = listensAt.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  const [basePath] = document.basePaths;
  const url = reachable + basePath;
  return {
    url,
    docs: DOCS === 'on' ? `${reachable}/docs` : undefined,
    operations: document.operations.map(({ method, path }) => `${method.toUpperCase()} ${basePath}${path}`),
    example: await exampleLine(document, url),
    ...own,
  };
}

/** The start for a person: where the service is, what it serves, and how to try it. */
export function banner({ url, store, docs, metrics, operations, missing, example }: Started, token?: string): string {
  const entries: readonly (readonly [label: string, text: string | undefined])[] = [
    ['listening', styleText('bold', url)],
    ['page', docs],
    ['store', store],
    ['metrics', metrics],
    ['operations', listed(operations)],
    ['no handler', listed(missing)],
    ['token', token],
  ];
  const lines = entries.flatMap(([label, text]) => (text ? [styleText('dim', label.padEnd(12)) + text] : []));
  if (token) lines.push('', 'The token was made for this run; set ACCESS_TOKENS to one that stays.');
  if (example !== undefined) lines.push('', 'Try it:', '', withToken(example, token));
  return `\n${lines.map((text) => (text === '' ? '' : `  ${text}`)).join('\n')}\n\n`;
}

const listed = (items: readonly string[]): string =>
  [...items.slice(0, FEW), ...(items.length > FEW ? [`… and ${items.length - FEW} more`] : [])].join(
    `\n${' '.repeat(14)}`,
  );

/** The text of `--help`. @param own the project's own variables */
export function help(own: Variables): string {
  const entries = Object.entries<Variable<unknown>>({ ...SERVER_VARIABLES, ...own }).map(
    ([name, { default: preset, description }]) =>
      `  ${name.padEnd(28)}${description}${preset === '' ? '' : `\n${' '.repeat(30)}default: ${preset}`}`,
  );
  return `Usage: npm start -- [--help] [--version] [--stack] [--allow-outside]

  --help            prints this
  --version         prints the versions of the project, its runtime and Node
  --stack           shows where in the code an error at the start comes from
  --allow-outside   reads files outside the folder of the document that it references

Variables of the environment, or of a file .env in the working directory:

${entries.join('\n')}

SIGTERM and SIGINT stop it in order, another one after a second at once; SIGHUP reads ACCESS_TOKENS_FILE again.
`;
}

export function startError(message: string): string {
  const heading = styleText('red', 'The service cannot start.', { stream: process.stderr });
  return `${heading}\n\n${message.replace(/^(?=.)/gm, '  ')}\n`;
}

/** An error for a person. @param stack whether to show where in the code it comes from */
export function explain(error: unknown, stack: boolean): string {
  if (!(error instanceof Error)) return String(error);
  if (stack) return error.stack ?? error.message;
  const code = 'code' in error ? String(error.code) : '';
  if (code.startsWith('ERR_PARSE_ARGS')) return `${error.message.split('. ', 1)[0]}: --help shows all`;
  // Code cannot be loaded, or breaks a rule of the language: then the place says more than the message.
  const isFault =
    [SyntaxError, TypeError, ReferenceError, RangeError].some((type) => error instanceof type) ||
    /^ERR_(MODULE|PACKAGE|UNKNOWN|UNSUPPORTED)_/.test(code);
  return (isFault && error.stack?.replace(/\n\s+at [^\n]*\bnode:internal[^\n]*/g, '')) || error.message;
}

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
