import { allOfSchemas, asArray, asObject, type Document, isObject, type Json, operationsOf } from 'openapi-document';
import { propertyName, quoted } from './source-text.ts';

/** The declared body of errors that an API uses most. */
interface ErrorForm {
  readonly mediaType: string;
  readonly schema: unknown;
}

/** What problem details (RFC 9457) are made of. */
const PROBLEM_DETAILS: ErrorForm = {
  mediaType: 'application/problem+json',
  schema: { required: ['status', 'title'], properties: { status: { type: 'integer' }, title: { type: 'string' } } },
};

/** A file `src/errors.ts` that makes errors in the form that a document declares, or problem details. */
export function errorsFile(document: Document): string {
  const declared = errorForm(document);
  const { mediaType, schema } = declared ?? PROBLEM_DETAILS;
  const value = valueText(document.root, schema, 'problem', 0);
  const used = ['status', 'message'].filter((name) => new RegExp(`\\b${name}\\b(?!['":])`).test(value));
  const source = declared ? 'as the document declares it' : 'as problem details (RFC 9457): the document declares none';
  return `import type { ErrorBody } from 'spec-first-server';

/** The body of each error, ${source}. */
export const errorBody: ErrorBody = {
  mediaType: ${quoted(mediaType)},
  make: (${used.length > 0 ? `{ ${used.join(', ')} }` : ''}) => (${value}),
};
`;
}

/** The JSON body that most error responses of a document declare. */
function errorForm(document: Document): ErrorForm | undefined {
  const counts = new Map<string, { readonly form: ErrorForm; count: number }>();
  for (const { responses } of operationsOf(document)) {
    for (const { key, media } of responses) {
      if (!/^([45]|default)/i.test(key)) continue;
      const json = media.find(({ kind, schema }) => kind === 'json' && isObject(schema));
      if (json === undefined) continue;
      const form = { mediaType: json.type, schema: json.schema };
      const name = JSON.stringify(form);
      const known = counts.get(name) ?? { form, count: 0 };
      known.count += 1;
      counts.set(name, known);
    }
  }
  return [...counts.values()].sort((one, other) => other.count - one.count)[0]?.form;
}

const STATUS = /^(status|code|error|errno)$|(status|error|http)_?-?(code|status)$/i;
const MESSAGE = /^(message|msg|title|detail|details|description|reason|error|text|summary)$|(message|description)$/i;

/** How deep objects inside objects are written: a schema may contain itself. */
const MAX_DEPTH = 6;

/** The source text of a value that satisfies a schema, and says the status and the message where it can. */
function valueText(root: Json, schema: unknown, name: string, depth: number): string {
  const all = resolved(root, schema);
  const find = (key: string) => all.map((part) => part[key]).find((value) => value !== undefined);
  if (find('const') !== undefined) return literal(find('const'));
  const values = asArray(find('enum'));
  if (values.length > 0) return literal(values[0]);
  const type = typeOf(all);
  if (type === 'object') return objectText(root, all, depth);
  if (type === 'array') {
    const least = Number(find('minItems') ?? 0);
    return least === 0 || depth > MAX_DEPTH ? '[]' : `[${valueText(root, find('items'), name, depth + 1)}]`;
  }
  if (type === 'integer' || type === 'number') return 'status';
  if (type === 'boolean') return String(!/^(success|ok)$/i.test(name));
  if (type === 'null') return 'null';
  if (find('format') === 'date-time') return 'new Date().toISOString()';
  if (find('format') === 'uuid') return 'crypto.randomUUID()';
  if (/^ur[il]/.test(String(find('format')))) return "'about:blank'";
  return STATUS.test(name) && !MESSAGE.test(name) ? 'String(status)' : 'message';
}

function objectText(root: Json, all: readonly Json[], depth: number): string {
  const properties: Json = Object.assign({}, ...all.map((part) => asObject(part.properties)));
  const required = new Set(all.flatMap((part) => asArray(part.required)).map(String));
  const members = depth > MAX_DEPTH ? [] : Object.keys(properties).filter((name) => required.has(name));
  const texts = new Map(members.map((name) => [name, valueText(root, properties[name], name, depth + 1)]));
  // An error says what went wrong, where the form has a place for it.
  for (const [pattern, type, text] of [
    [MESSAGE, 'string', 'message'] as const,
    [STATUS, 'integer', 'status'] as const,
  ]) {
    if ([...texts.values()].some((value) => new RegExp(`\\b${text}\\b`).test(value))) continue;
    const place = Object.keys(properties).find(
      (name) => !texts.has(name) && pattern.test(name) && valueText(root, properties[name], name, depth + 1) === text,
    );
    if (place !== undefined && depth === 0 && typeOf(resolved(root, properties[place])) === type)
      texts.set(place, text);
  }
  const entries = Object.keys(properties).flatMap((name) => {
    const text = texts.get(name);
    if (text === undefined) return [];
    if (text === name) return [name];
    return [`${propertyName(name)}: ${text}`];
  });
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

/** A schema with what it references and its `allOf`; of alternatives the first. */
function resolved(root: Json, schema: unknown): readonly Json[] {
  const all = allOfSchemas(root, schema);
  const chosen = all.flatMap(({ oneOf, anyOf }) =>
    allOfSchemas(root, (asArray(oneOf)[0] ?? asArray(anyOf)[0]) as unknown),
  );
  return [...all, ...chosen];
}

function typeOf(all: readonly Json[]): string {
  const types = all.flatMap(({ type }) => (Array.isArray(type) ? type : [type])).filter((type) => type !== undefined);
  if (types.length > 0) return String(types.find((type) => type !== 'null') ?? types[0]);
  return all.some(({ properties, required }) => properties !== undefined || required !== undefined)
    ? 'object'
    : 'string';
}

const literal = (value: unknown): string => (typeof value === 'string' ? quoted(value) : JSON.stringify(value));
