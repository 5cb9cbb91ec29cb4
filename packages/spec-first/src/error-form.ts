import { asArray, asObject, type Document, isObject, type Json, schemas, stringifyJson } from 'openapi-document';
import { propertyName, quoted } from './source-text.ts';

/** What problem details (RFC 9457) are made of. */
const PROBLEM_DETAILS = {
  type: 'application/problem+json',
  schema: { required: ['status', 'title'], properties: { status: { type: 'integer' }, title: { type: 'string' } } },
};

/** A file `src/errors.ts` that makes errors in the form that a document declares, or problem details. */
export function errorsFile(document: Document): string {
  // The JSON body that most error responses declare.
  const declared = document.operations
    .flatMap(({ responses }) => responses.filter(({ key }) => /^([45]|default)/i.test(key)))
    .flatMap(({ media }) => media.find(({ kind, schema }) => kind === 'json' && isObject(schema)) ?? []);
  const forms = [...Map.groupBy(declared, ({ type, schema }) => stringifyJson([type, schema])).values()];
  const [most] = forms.sort((one, other) => other.length - one.length);
  const { type, schema } = most?.[0] ?? PROBLEM_DETAILS;
  const value = textFor(document.root, schema, 'problem');
  const used = ['status', 'message'].filter((name) => new RegExp(`\\b${name}\\b(?!['":])`).test(value));
  const source = most ? 'as the document declares it' : 'as problem details (RFC 9457): the document declares none';
  const codes = value.includes('STATUS_CODES') ? "import { STATUS_CODES } from 'node:http';\n" : '';
  return `${codes}import type { ErrorBody } from 'spec-first-server';

/** The body of each error, ${source}. */
export const errorBody: ErrorBody = {
  mediaType: ${quoted(type)},
  make: (${used.length > 0 ? `{ ${used.join(', ')} }` : ''}) => (${value}),
};
`;
}

const STATUS = /^(status|code|error|errno)$|(status|error|http)_?-?(code|status)$/i;
const MESSAGE = /^(message|msg|title|detail|details|description|reason|error|text|summary)$|(message|description)$/i;

/** How deep objects inside objects are written: a schema may contain itself. */
const MAX_DEPTH = 6;

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'new Date().toISOString()',
  uuid: 'crypto.randomUUID()',
  ...Object.fromEntries(['uri', 'url', 'uri-reference'].map((format) => [format, "'about:blank'"])),
};

/** The source text of a value that satisfies a schema, and says the status and the message where it can. */
function textFor(root: Json, schema: unknown, name: string, depth = 0): string {
  const all = resolved(root, schema);
  const merged: Json = Object.assign({}, ...all.toReversed());
  const choice = Object.hasOwn(merged, 'const') ? merged.const : asArray(merged.enum)[0];
  if (choice !== undefined)
    return typeof choice === 'string'
      ? quoted(choice)
      : typeof choice === 'bigint'
        ? `${choice}n`
        : JSON.stringify(choice);
  const properties: Json = Object.assign({}, ...all.map((part) => asObject(part.properties)));
  const types = [merged.type ?? (all.some((part) => part.properties ?? part.required) ? 'object' : 'string')].flat();
  switch (types.find((type) => type !== 'null') ?? 'null') {
    case 'object':
      return objectText(root, properties, new Set(all.flatMap((part) => asArray(part.required))), depth);
    case 'array':
      return merged.minItems && depth < MAX_DEPTH ? `[${textFor(root, merged.items, name, depth + 1)}]` : '[]';
    case 'string':
      return (
        FORMATS[String(merged.format)] ?? (STATUS.test(name) && !MESSAGE.test(name) ? 'String(status)' : 'message')
      );
    case 'boolean':
      return String(!/^(success|ok)$/i.test(name));
    case 'null':
      return 'null';
    default:
      return 'status';
  }
}

function objectText(root: Json, properties: Json, required: ReadonlySet<unknown>, depth: number): string {
  const textOf = (name: string) => textFor(root, properties[name], name, depth + 1);
  const members = depth > MAX_DEPTH ? [] : Object.keys(properties).filter((name) => required.has(name));
  const texts = new Map(members.map((name) => [name, textOf(name)]));
  // An error says what went wrong, where the form has a place for it.
  for (const [pattern, text] of [[MESSAGE, 'message'] as const, [STATUS, 'status'] as const]) {
    if (depth > 0 || [...texts.values()].some((value) => new RegExp(`\\b${text}\\b`).test(value))) continue;
    const free = Object.keys(properties).filter((name) => !texts.has(name) && pattern.test(name));
    const place = free.find((name) => textOf(name) === text);
    if (place !== undefined) texts.set(place, text);
  }
  // Problem details (RFC 9457).
  if (depth === 0 && ['title', 'detail'].every((name) => properties[name] && textOf(name) === 'message')) {
    texts.set('title', "STATUS_CODES[status] ?? 'Error'").set('detail', 'message');
  }
  const entries = Object.keys(properties).flatMap((name) => {
    const text = texts.get(name);
    return text === undefined ? [] : [text === name ? name : `${propertyName(name)}: ${text}`];
  });
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

/** A schema with what it references and its `allOf`; of alternatives the first. */
const resolved = (root: Json, schema: unknown): readonly Json[] =>
  schemas
    .allOf(root, schema)
    .flatMap((part) => [part, ...schemas.allOf(root, asArray(part.oneOf)[0] ?? asArray(part.anyOf)[0])]);
