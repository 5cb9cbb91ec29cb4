import { asArray, asObject, type Document, isObject, type Json, schemas, stringifyJson } from 'openapi-document';
import { propertyName, quoted } from './types.ts';

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

const STATUS = /^(error|errno)$|(status|code)$/i;
const MESSAGE = /^(msg|title|details?|reason|error|text|summary)$|(message|description)$/i;
/** The title beside a detail in problem details (RFC 9457). */
const TITLE = "STATUS_CODES[status] ?? 'Error'";
/** The optional properties that are filled, by the text that fills one of them. */
const PLACES: Readonly<Record<string, RegExp>> = { message: MESSAGE, status: STATUS, [TITLE]: /^title$/ };

/** How deep objects inside objects are written: a schema may contain itself. */
const MAX_DEPTH = 6;

/** The source text of a value that satisfies a schema, and says the status and the message where it can. */
function textFor(root: Json, schema: unknown, name: string, depth = 0): string {
  // Of alternatives the first.
  const all = schemas
    .allOf(root, schema)
    .flatMap((part) => [part, ...schemas.allOf(root, asArray(part.oneOf)[0] ?? asArray(part.anyOf)[0])]);
  const merged: Json = Object.assign({}, ...all.toReversed());
  const choice = Object.hasOwn(merged, 'const') ? merged.const : asArray(merged.enum)[0];
  if (choice !== undefined) return typeof choice === 'string' ? quoted(choice) : (stringifyJson(choice) ?? '');
  const types = [merged.type ?? (all.some((part) => part.properties ?? part.required) ? 'object' : 'string')].flat();
  switch (types.find((type) => type !== 'null') ?? 'null') {
    case 'object':
      return depth > MAX_DEPTH ? '{}' : objectText(root, all, depth);
    case 'array':
      return merged.minItems && depth < MAX_DEPTH ? `[${textFor(root, merged.items, name, depth + 1)}]` : '[]';
    case 'string':
      if (merged.format === 'date-time') return 'new Date().toISOString()';
      if (merged.format === 'uuid') return 'crypto.randomUUID()';
      if (/^ur[il]/.test(String(merged.format))) return "'about:blank'";
      return STATUS.test(name) && !MESSAGE.test(name) ? 'String(status)' : 'message';
    case 'boolean':
      return String(!/^(success|ok)$/i.test(name));
    case 'null':
      return 'null';
    default:
      return 'status';
  }
}

/** An object with its required properties. The outermost one says what went wrong, where it has a property for it. */
function objectText(root: Json, all: readonly Json[], depth: number): string {
  const properties: Json = Object.assign({}, ...all.map((part) => asObject(part.properties)));
  const required = new Set(all.flatMap((part) => asArray(part.required)));
  const names = Object.keys(properties).filter((name) => required.has(name) || depth === 0);
  const texts = new Map(names.map((name) => [name, textFor(root, properties[name], name, depth + 1)]));
  if (depth === 0 && texts.get('title') === 'message' && texts.get('detail') === 'message') texts.set('title', TITLE);
  const said = names.filter((name) => required.has(name)).map((name) => texts.get(name));
  const members = names.flatMap((name) => {
    const text = texts.get(name) ?? '';
    if (!required.has(name) && (!PLACES[text]?.test(name) || said.includes(text))) return [];
    said.push(text);
    return text === name ? name : `${propertyName(name)}: ${text}`;
  });
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
