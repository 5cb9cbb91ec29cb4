import { styleText } from 'node:util';
import {
  type Document,
  DocumentError,
  isJsonType,
  type MediaType,
  type Operation,
  type Schemas,
  stringifyJson,
  writePath,
} from 'openapi-document';
import { credentialPlaceOf } from '../core/security/places.ts';
import { ConfigError, SERVER_VARIABLES, type Variables } from './configuration.ts';

export type Started = Awaited<ReturnType<typeof describeStart>>;

/** Collects the facts that a start reports. */
export async function describeStart(
  documents: readonly [Document, ...Document[]],
  serverUrl: string,
  docsPaths: readonly string[],
  facts: {
    readonly store: string | undefined;
    readonly metrics: string | undefined;
    /** The operationIds of the operations without a handler. */
    readonly missing: readonly string[];
  },
) {
  // On some systems, clients cannot connect to a wildcard address.
  const reachable = serverUrl.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  const [first, ...others] = documents;
  const firstUrl = reachable + first.basePaths[0];
  return {
    url: others.length > 0 ? reachable : firstUrl,
    docs: docsPaths.map((path) => reachable + path).join(', ') || undefined,
    operations: documents
      .flatMap(({ operations }) => operations)
      .map(({ method, path, basePaths }) => `${method.toUpperCase()} ${basePaths[0]}${path}`),
    example: await exampleLine(first, firstUrl),
    ...facts,
  };
}

/** Formats a start for a terminal. */
export function banner(
  { url, store, docs, metrics, operations, missing, example }: Started,
  token?: string,
): string {
  const facts = {
    listening: styleText('bold', url),
    page: docs,
    store,
    metrics,
    operations: String(operations.length),
    'no handler': missing.join(', '),
    token,
  };
  const lines = Object.entries(facts)
    .filter(([, text]) => text)
    .map(([label, text]) => `${styleText('dim', label.padEnd(12))}${text}`);
  if (token) lines.push('', 'The token is valid for this run only. Set ACCESS_TOKENS to keep one.');
  if (example) lines.push('', 'Try it:', '', withToken(example, token));
  return `\n${indented(lines.join('\n'))}\n\n`;
}

const indented = (text: string): string => text.replace(/^(?=.)/gm, '  ');

export function help(projectVariables: Variables): string {
  const variables: Variables = { ...SERVER_VARIABLES, ...projectVariables };
  const entries = Object.entries(variables).map(
    ([name, { default: preset, description }]) =>
      `  ${name.padEnd(28)}${description}` +
      (preset === '' ? '' : `\n${' '.repeat(30)}default: ${preset}`),
  );
  return `Usage: npm start -- [--check] [--help] [--version] [--allow-outside]

  --check           checks the configuration and the document without starting the service.
                    Does not check handlers and verifiers that the function open returns
  --help            prints this text
  --version         prints the versions of the project, of spec-first-server and of Node
  --allow-outside   allows references to files outside the folder of the document

Variables of the environment, or of a file .env in the working directory:

${entries.join('\n')}

SIGTERM, SIGINT and SIGQUIT stop the service gracefully. A second one aborts requests in flight.
SIGHUP reads ACCESS_TOKENS_FILE again.
`;
}

export function startError(message: string): string {
  const heading = styleText('red', 'The service cannot start.', { stream: process.stderr });
  return `${heading}\n\n${indented(message)}\n`;
}

/**
 * Returns only the message of an expected error, such as one with a `status`, and the stack of an
 * unexpected one.
 */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ConfigError || error instanceof DocumentError || 'status' in error)
    return error.message;
  if ('code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')) {
    return `${error.message.split('. ', 1)[0]}: see --help`;
  }
  return error.stack?.replace(/\n\s+at [^\n]*\bnode:internal[^\n]*/g, '') ?? error.message;
}

/**
 * Returns a curl command for one operation. Prefers operations that need a token, then those
 * without parameters in the path. Uses the first alternative of the operation's credentials. The
 * command has the shell variable `TOKEN` instead of a token.
 *
 * @param url the base URL of the document's paths, without a slash at the end.
 * @returns `undefined` if there is no suitable operation.
 */
export async function exampleLine({ schemas, operations, securitySchemes }: Document, url: string) {
  const headerOf = (key: string): string | undefined => {
    const { header } = credentialPlaceOf(securitySchemes[key] ?? {});
    return header && `"${header}$TOKEN"`;
  };
  const candidates = operations.flatMap((operation) => {
    const { parameters, requestBody, security, template } = operation;
    const headers = Object.keys(security[0] ?? {}).map(headerOf);
    const media = requestBody?.media.find(({ type }) => isJsonType(type));
    const isCallable =
      !parameters.some(({ in: where, required }) => where !== 'path' && required) &&
      (requestBody === undefined || media !== undefined) &&
      !headers.includes(undefined);
    // Operations that need a token come first, then those without path parameters.
    const rank = (headers.length > 0 ? 0 : 2) + (template.names.length > 0 ? 1 : 0);
    return isCallable && template.isReachable ? [{ operation, headers, media, rank }] : [];
  });
  for (const { operation, headers, media } of candidates.toSorted((a, b) => a.rank - b.rank)) {
    const path = await examplePath(operation);
    if (path === undefined) continue;
    const method = operation.method.toUpperCase();
    const words = ['curl'];
    if (method !== (media ? 'POST' : 'GET')) words.push('-X', method);
    const target = url + path;
    words.push(/^[\w.:/%-]+$/.test(target) ? target : shellQuoted(target));
    for (const header of headers) words.push('-H', String(header));
    if (media) {
      const body = await exampleBody(schemas, media);
      words.push('-H', shellQuoted(`Content-Type: ${media.type}`), '-d', shellQuoted(body));
    }
    return words.join(' ');
  }
  return undefined;
}

/** Returns the path with the examples of its parameters, if all have one that can be sent. */
async function examplePath({ path, parameters, template }: Operation) {
  if (template.names.length === 0) return writePath(template, String);
  const inPath = parameters.filter((each) => each.in === 'path');
  const values = new Map(
    inPath.flatMap(({ name, examples: [first] }) => (first ? [[name, first.value]] : [])),
  );
  if (template.names.some((name) => !values.has(name))) return undefined;
  // Imported here, since the client is only needed for parameters.
  const { writeParameters } = await import('openapi-document/client');
  try {
    return writeParameters({ path, parameters: inPath }, { path: Object.fromEntries(values) }).url;
  } catch {
    return undefined;
  }
}

/** Quotes an argument for a POSIX shell (Shell Command Language §2.2.2). */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

async function exampleBody(schemas: Schemas, media: MediaType): Promise<string> {
  const [example] = media.examples;
  if (example !== undefined) return stringifyJson(example.value) ?? '{}';
  const { valuesOf } = await import('openapi-document/samples');
  const [value] = valuesOf(schemas, media.schema, 'request').take(1);
  return stringifyJson(value) ?? '{}';
}

export const withToken = (example: string, token = '$TOKEN'): string =>
  example.replaceAll('$TOKEN', () => token);
