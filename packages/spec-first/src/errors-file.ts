import { type Document, isJsonType, isObject, type Schemas, stringifyJson } from 'openapi-document';
import { valuesOf } from 'openapi-document/samples';
import { SERVER_HEADERS } from 'spec-first-server/cli';
import { bodySource, constantsIn, expressionsIn, fillBody, PROBLEM_DETAILS } from './error-body.ts';
import { quoted, TYPES } from './types.ts';

const NOT_DECLARED = ', since the document declares no body of errors';

const NO_BODY =
  'errors are problem details, since no value was found for the declared body: write the body';

/**
 * Returns the text of `src/errors.ts`, which makes the body that error responses of the document
 * declare most often. The body is problem details if none is found that matches the schema. The
 * text compiles; it has a TODO if the team has to complete it.
 */
export function errorsFile(document: Document): string {
  const { schemas } = document;
  const declared = commonBody(document);
  const filled = declared && fillBody(schemas, declared.schema);
  const common = filled === undefined ? undefined : declared;
  const body = filled ?? PROBLEM_DETAILS;
  const headers = requiredHeaders(schemas, document);
  const source = bodySource(body, '  ');
  const headerSource =
    headers.size > 0
      ? `  headers: () => (${bodySource(Object.fromEntries(headers), '  ')}),\n`
      : '';
  const parameters = [...new Set(expressionsIn(body).map(({ parameter }) => parameter))].join(', ');
  const placeholders = [...constantsIn(body), ...headers.keys().map((name) => `header ${name}`)];
  const todos = [
    ...(declared && !common ? [NO_BODY] : []),
    ...(placeholders.length > 0 ? [`replace the placeholders (${placeholders.join(', ')})`] : []),
  ];
  const comment = common
    ? `/** The body that error responses of the document declare most often. */
type Body = ${common.type};
`
    : `/** Problem details (RFC 9457)${declared ? '' : NOT_DECLARED}. */`;
  return `${source.includes('STATUS_CODES') ? "import { STATUS_CODES } from 'node:http';\n" : ''}\
import type { ErrorBody } from 'spec-first-server';
${common ? `import type { ${common.type.split('[')[0]} } from '../${TYPES}';\n` : ''}
${todos.map((todo) => `// TODO: ${todo}.\n`).join('')}${comment}
export const errorBody: ErrorBody = {
  mediaType: ${quoted(common?.mediaType ?? 'application/problem+json')},
  make: (${parameters && `{ ${parameters} }`})${common ? ': Body' : ''} => (${source}),
${headerSource}};
`;
}

const errorResponses = ({ operations }: Document) =>
  operations.flatMap(({ id, responses }) =>
    responses
      .filter(({ key }) => /^([45]|default)/.test(key))
      .map((response) => ({ id, ...response })),
  );

/** Headers that errors of the server have. */
const ERROR_HEADERS = new Set(['www-authenticate', 'retry-after', 'allow', 'content-encoding']);

/** Returns valid texts for headers that error responses require, by name. */
function requiredHeaders(schemas: Schemas, document: Document): ReadonlyMap<string, string> {
  const headers = errorResponses(document)
    .flatMap((response) => response.headers)
    .filter(({ required }) => required)
    .filter(({ name }) => !SERVER_HEADERS.has(name) && !ERROR_HEADERS.has(name));
  const texts = headers.map(({ name, schema, examples }) => {
    const generated = valuesOf(schemas, schema, 'response').take(1);
    const values = [...examples.map(({ value }) => value), ...generated];
    return [name, String(values[0] ?? 'text')] as const;
  });
  return new Map(texts);
}

/**
 * Returns the JSON body that error responses declare most often, and its type in the generated
 * file. Returns `undefined` if none declares a JSON body.
 */
function commonBody(document: Document) {
  const bodies = errorResponses(document).flatMap(({ id, key, media }) =>
    media.flatMap(({ type, schema, outline }) =>
      isJsonType(type) && isObject(schema) ? { id, key, mediaType: type, schema, outline } : [],
    ),
  );
  const groups = Map.groupBy(bodies, ({ mediaType, schema }) => stringifyJson([mediaType, schema]));
  const [largest] = [...groups.values()].sort((one, other) => other.length - one.length);
  const first = largest?.[0];
  if (first === undefined) return undefined;
  const { id, key, mediaType, schema, outline } = first;
  const name = outline.componentName;
  const [root, ...steps] = name
    ? ['components', 'schemas', name]
    : ['operations', id, 'responses', key, 'content', mediaType];
  const type = `${root}${steps.map((step) => `[${quoted(step)}]`).join('')}`;
  return { mediaType, schema, type };
}
