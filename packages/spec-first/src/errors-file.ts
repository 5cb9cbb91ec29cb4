import { STATUS_CODES } from 'node:http';
import { runInNewContext } from 'node:vm';
import { createSchemas, type Document, isObject, type Json, stringifyJson } from 'openapi-document';
import { quoted, TYPES } from './types.ts';

const TITLE = "title: STATUS_CODES[status] ?? 'Error'";
const PROBLEM_DETAILS = `type, ${TITLE}, status, detail: message`;

/** The parameters of `make`, in TypeScript, by the name that a template uses. */
const PARAMETERS: Readonly<Record<string, string>> = {
  type: "type = 'about:blank'",
  status: 'status',
  message: 'message',
};

/** The members of common error bodies, in TypeScript. The first template that fits is used. */
const TEMPLATES: readonly string[] = [
  PROBLEM_DETAILS,
  `${TITLE}, status, detail: message`,
  'title: message, status',
  'error: status, message',
  'status, message',
  'code: status, message',
  'message',
  'errors: [{ message }]',
];

/** The members that are written if no common body fits. The team completes them. */
const EXAMPLE = 'code: status, message';

/**
 * Returns the text of `src/errors.ts`, which makes the body that error responses of the document
 * declare most often. If no common body fits, or if error responses require headers that the server
 * does not set, the file does not compile until the team completes it.
 */
export function errorsFile(document: Document): string {
  const declared = commonBody(document);
  const template = declared ? templateFor(document.root, declared.schema) : PROBLEM_DETAILS;
  const members = template ?? EXAMPLE;
  const parameters = Object.entries(PARAMETERS)
    .filter(([name]) => new RegExp(`\\b${name}\\b`).test(members))
    .map(([, parameter]) => parameter)
    .join(', ');
  const missing = [...(template ? [] : ['the body']), ...requiredHeaders(document)].join(', ');
  const todo = `// TODO: write ${missing} as the document declares, then delete these two lines.
export const todo: never = 'The errors are not written yet';

`;
  const comment = declared
    ? `/** The body that error responses of the document declare most often. */
type Body = ${declared.type};
`
    : '/** Problem details (RFC 9457), since the document declares no body of errors. */';
  return `${members.includes('STATUS_CODES') ? "import { STATUS_CODES } from 'node:http';\n" : ''}\
import type { ErrorBody } from 'spec-first-server';
${declared ? `import type { ${declared.type.split('[')[0]} } from '../${TYPES}';\n` : ''}
${comment}
${missing && todo}export const errorBody: ErrorBody = {
  mediaType: ${quoted(declared?.mediaType ?? 'application/problem+json')},
  make: ({ ${parameters} })${declared ? ': Body' : ''} => ({
    ${members.replaceAll(', ', ',\n    ')},
  }),
};
`;
}

/**
 * Returns the first common body that fits a schema. If the schema declares members, the body has no
 * others, since the compiler would reject them.
 */
function templateFor(root: Json, schema: Json): string | undefined {
  const schemas = createSchemas(root);
  const { names } = schemas.outline(schema);
  const fits = (template: string, type: string, status: number, message: string) => {
    const values = { STATUS_CODES, type, status, message };
    const body: unknown = runInNewContext(`({ ${template} })`, values);
    const isDeclared =
      names.size === 0 || Object.keys(Object(body)).every((name) => names.has(name));
    return isDeclared && schemas.at(schema, 'received').isValid(body);
  };
  return TEMPLATES.find(
    (template) =>
      fits(template, 'about:blank', 404, 'x') &&
      fits(template, 'https://example.com/problems/taken', 599, 'x'.repeat(1000)),
  );
}

const errorResponses = ({ operations }: Document) =>
  operations.flatMap(({ id, responses }) =>
    responses
      .filter(({ key }) => /^([45]|default)/.test(key))
      .map((response) => ({ id, ...response })),
  );

/** Headers that the server sets in responses to errors. */
const SERVER_HEADERS = /^(www-authenticate|retry-after|allow|content-.*)$/;

function requiredHeaders(document: Document): string[] {
  const headers = errorResponses(document).flatMap((response) => response.headers);
  const missing = headers.filter(({ name, required }) => required && !SERVER_HEADERS.test(name));
  return [...new Set(missing.map(({ name }) => `the header ${name}`))];
}

/**
 * Returns the JSON body that error responses declare most often, and its type in the generated
 * file. Returns `undefined` if none declares a JSON body.
 */
function commonBody(document: Document) {
  const bodies = errorResponses(document).flatMap(({ id, key, media }) =>
    media.flatMap(({ kind, type, schema, outline }) =>
      kind === 'json' && isObject(schema) ? { id, key, mediaType: type, schema, outline } : [],
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
