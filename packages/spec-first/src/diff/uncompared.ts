import { type Document, type Json, walk } from 'openapi-document';
import { type Change, WARNING } from './oasdiff.ts';

/** The keywords of schemas whose changes oasdiff does not report, or not in every place. */
const LIMITS = [
  ...['multipleOf', 'uniqueItems', 'maxItems', 'minProperties', 'maxProperties', 'not'],
  ...['prefixItems', 'unevaluatedItems', 'unevaluatedProperties', 'additionalProperties'],
];

/** Returns changed limits that oasdiff may not report. Compares schemas in the same place. */
export function uncompared(before: Document, after: Document): Change[] {
  const former = schemasOf(before);
  return [...schemasOf(after)].flatMap(([place, { pointer, schema }]) => {
    const earlier = former.get(place)?.schema ?? schema;
    const changed = LIMITS.filter(
      (keyword) => limitOf(earlier, keyword) !== limitOf(schema, keyword),
    );
    return changed.map((keyword) => ({
      id: 'not-compared-by-oasdiff',
      level: WARNING,
      text: `${keyword} has changed, which may break clients`,
      pointer,
    }));
  });
}

/** Returns schemas by place: a pointer in which parameters have names instead of indexes. */
function schemasOf({ root }: Document) {
  const schemas = new Map<string, { readonly pointer: string; readonly schema: Json }>();
  let parameterPointer = '';
  let parameterPlace = '';
  walk(root, 'document', '', (object, kind, pointer) => {
    if (kind === 'parameter') {
      // The index in the list changes if a parameter is added before this one.
      parameterPointer = pointer;
      parameterPlace = `${pointer.replace(/\d+$/, '')}${object.in} ${object.name}`;
    }
    if (kind === 'schema')
      schemas.set(
        pointer.replace(parameterPointer, () => parameterPlace),
        { pointer, schema: object },
      );
  });
  return schemas;
}

/**
 * Returns a limit as text without annotations. Returns `undefined` if it limits nothing, and for
 * `additionalProperties`, `unevaluatedProperties` and `unevaluatedItems` with a schema.
 */
function limitOf(schema: Json, keyword: string): string | undefined {
  const value = schema[keyword];
  const isLimit = /^(additional|unevaluated)/.test(keyword) ? value === false : value !== false;
  if (!isLimit) return undefined;
  return JSON.stringify(value, (key, member) => {
    if (/^(title|description|examples?|x-.*)$/.test(key)) return undefined;
    return typeof member === 'bigint' ? String(member) : member;
  });
}
