import { STATUS_CODES } from 'node:http';
import { type Document, isObject, type Json, schemas, stringifyJson } from 'openapi-document';
import { quoted, TYPES } from './types.ts';

/** A common body of errors: the source texts of its members. */
type Form = Readonly<Record<string, string>>;

const TITLE = "STATUS_CODES[status] ?? 'Error'";
const PROBLEM_DETAILS: Form = {
  type: "'about:blank'",
  title: TITLE,
  status: 'status',
  detail: 'message',
};

/** The first form that fits the document is used. */
const FORMS: readonly Form[] = [
  PROBLEM_DETAILS,
  { title: TITLE, status: 'status', detail: 'message' },
  { title: 'message', status: 'status' },
  { error: 'status', message: 'message' },
  { status: 'status', message: 'message' },
  { code: 'status', message: 'message' },
  { message: 'message' },
  { errors: '[{ message }]' },
];

/** A body that the team has to change. */
const EXAMPLE: Form = { code: 'status', message: 'message' };

/** Returns the body that a form makes. */
function bodyOf(form: Form, status: number, message: string): unknown {
  const values: Readonly<Record<string, unknown>> = {
    "'about:blank'": 'about:blank',
    [TITLE]: STATUS_CODES[status] ?? 'Error',
    status,
    message,
    '[{ message }]': [{ message }],
  };
  return Object.fromEntries(Object.entries(form).map(([name, source]) => [name, values[source]]));
}

/**
 * Returns the text of `src/errors.ts`, which makes the body that most error responses of the
 * document declare. If no common form fits, or if error responses require headers, the file does
 * not compile until the team completes it.
 */
export function errorsFile(document: Document): string {
  const declared = commonBody(document);
  const form = declared === undefined ? PROBLEM_DETAILS : formOf(document.root, declared.schema);
  const members = Object.entries(form ?? EXAMPLE);
  const lines = members.map(([name, source]) => (name === source ? name : `${name}: ${source}`));
  const uses = (name: string) => members.some(([, source]) => source.includes(name));
  const parameters = ['status', 'message'].filter(uses).join(', ');
  const missing = [...(form ? [] : ['the body']), ...requiredHeaders(document)].join(', ');
  const todo = `// TODO: write ${missing} as the document declares, then delete this line.
export const todo: never = 'The errors are not written yet';

`;
  const comment = declared
    ? `/** The body that most error responses of the document declare. */
type Body = ${declared.type};
`
    : '/** Problem details (RFC 9457), since the document declares no body of errors. */';
  return `${uses(TITLE) ? "import { STATUS_CODES } from 'node:http';\n" : ''}\
import type { ErrorBody } from 'spec-first-server';
${declared ? `import type { ${declared.type.split('[')[0]} } from '../${TYPES}';\n` : ''}
${comment}
${missing && todo}export const errorBody: ErrorBody = {
  mediaType: ${quoted(declared?.mediaType ?? 'application/problem+json')},
  make: ({ ${parameters} })${declared ? ': Body' : ''} => ({
    ${lines.join(',\n    ')},
  }),
};
`;
}

/** Returns the first form whose bodies fit a schema. Prefers bodies without undeclared members. */
function formOf(root: Json, schema: Json): Form | undefined {
  const fits = (body: unknown, allowed: Json) =>
    schemas.misfitOf(root, allowed, body) === undefined;
  const fitting = (allowed: Json) =>
    FORMS.find(
      (form) =>
        fits(bodyOf(form, 404, 'x'), allowed) && fits(bodyOf(form, 599, 'x'.repeat(1000)), allowed),
    );
  return fitting({ allOf: [schema], unevaluatedProperties: false }) ?? fitting(schema);
}

const failuresOf = ({ operations }: Document) =>
  operations.flatMap(({ id, responses }) =>
    responses
      .filter(({ key }) => /^([45]|default)/i.test(key))
      .map((response) => ({ id, ...response })),
  );

/** Headers that the server sets with the failures that have them. */
const SERVER_HEADERS = /^(www-authenticate|retry-after|allow|content-.*)$/i;

/** Returns the names of the headers that failures require, and that the server does not set. */
function requiredHeaders(document: Document): string[] {
  const headers = failuresOf(document).flatMap((failure) => failure.headers);
  const missing = headers.filter(({ name, required }) => required && !SERVER_HEADERS.test(name));
  return [...new Set(missing.map(({ name }) => `the header ${name}`))];
}

/** Returns the JSON body that most error responses declare, and its type in the generated file. */
function commonBody(document: Document) {
  const bodies = failuresOf(document).flatMap(({ id, key, media }) =>
    media.flatMap(({ kind, type, schema }) =>
      kind === 'json' && isObject(schema) ? { id, key, mediaType: type, schema } : [],
    ),
  );
  const groups = Map.groupBy(bodies, ({ mediaType, schema }) => stringifyJson([mediaType, schema]));
  const [largest] = [...groups.values()].sort((one, other) => other.length - one.length);
  const first = largest?.[0];
  if (first === undefined) return undefined;
  const { id, key, mediaType, schema } = first;
  const name = /^#\/components\/schemas\/([\w.-]+)$/.exec(String(schema.$ref))?.[1];
  const [root, ...inside] = name
    ? ['components', 'schemas', name]
    : ['operations', id, 'responses', key, 'content', mediaType];
  const type = `${root}${inside.map((step) => `[${quoted(step)}]`).join('')}`;
  return { mediaType, schema, type };
}
