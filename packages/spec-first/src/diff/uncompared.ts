import { type Document, type Json, schemas } from 'openapi-document';
import { type Change, LEVELS } from './oasdiff.ts';

/** The keywords of schemas whose changes oasdiff does not report, or not in every place. */
const LIMITS = [
  ...['multipleOf', 'uniqueItems', 'maxItems', 'minProperties', 'maxProperties', 'not'],
  ...['prefixItems', 'unevaluatedItems', 'unevaluatedProperties', 'additionalProperties'],
];

type ComparedDirection = 'request' | 'reply';

/** Returns changed limits that oasdiff may not report. */
export function uncompared(before: Document, after: Document): Change[] {
  const former = new Map(schemasOf(before).map(({ key, schema }) => [key, schema]));
  const changedLimits = {
    request: comparison(before.root, after.root, 'request'),
    reply: comparison(before.root, after.root, 'reply'),
  };
  return schemasOf(after).flatMap(({ key, operation, path, direction, schema }) =>
    changedLimits[direction](former.get(key), schema, '').map((place) => ({
      id: 'not-compared-by-oasdiff',
      level: LEVELS.indexOf('warning'),
      operation,
      path,
      text: `${place} has changed in the ${direction}, which may break clients`,
    })),
  );
}

/** Returns the schemas of parameters and bodies. Their keys are the same in each version. */
function schemasOf({ operations }: Document) {
  return operations.flatMap(({ method, path, parameters, requestBody, responses }) => {
    const operation = method.toUpperCase();
    const part = (direction: ComparedDirection, place: string, schema: unknown) => {
      const key = `${operation} ${path} ${direction} ${place}`;
      return { key, operation, path, direction, schema };
    };
    const bodies = requestBody?.media ?? [];
    return [
      ...parameters.map(({ in: where, name, schema }) =>
        part('request', `${where} ${name}`, schema),
      ),
      ...bodies.map(({ type, schema }) => part('request', type, schema)),
      ...responses.flatMap(({ key, media }) =>
        media.map(({ type, schema }) => part('reply', `${key} ${type}`, schema)),
      ),
    ];
  });
}

/**
 * Returns a function that lists the places of changed limits between two schemas. It compares each
 * pair of schemas once.
 */
function comparison(rootBefore: Json, rootAfter: Json, direction: ComparedDirection) {
  const compared = new Map<unknown, Set<unknown>>();

  return function compare(before: unknown, after: unknown, place: string): string[] {
    const partners = compared.get(after) ?? new Set();
    compared.set(after, partners);
    if (before === undefined || after === undefined || partners.has(before)) return [];
    partners.add(before);

    const former = keywordsOf(rootBefore, before);
    const current = keywordsOf(rootAfter, after);
    // A request that loses a limit or a reply that gets one does not break clients.
    const stricter = direction === 'request' ? current : former;
    const changed = LIMITS.filter(
      (keyword) =>
        limitOf(stricter, keyword) !== undefined &&
        limitOf(former, keyword) !== limitOf(current, keyword),
    );
    const formerParts = new Map(subschemasOf(former));
    return [
      ...changed.map((keyword) => `${place}${keyword}`),
      ...subschemasOf(current).flatMap(([name, part]) =>
        compare(formerParts.get(name), part, `${place}${name}/`),
      ),
    ];
  };
}

/** Merges the keywords of a schema, of its references and of its `allOf` into one object. */
function keywordsOf(root: Json, schema: unknown): Json {
  if (schema === false) return { not: {} };
  const parts = schemas.allOf(root, schema);
  const properties = Object.assign({}, ...parts.map((part) => part.properties));
  return Object.assign({}, ...parts.toReversed(), { properties });
}

/** Returns the schemas inside a schema, by their places. */
function subschemasOf({ items, additionalProperties, properties, oneOf, anyOf }: Json) {
  const parts: [string, unknown][] = Object.entries({ items, additionalProperties });
  for (const [keyword, members] of Object.entries({ properties, oneOf, anyOf })) {
    for (const [name, member] of Object.entries(Object(members)))
      parts.push([`${keyword}/${name}`, member]);
  }
  return parts;
}

/** Returns a limit as text without annotations, or `undefined` if it limits nothing. */
function limitOf(schema: Json, keyword: string): string | undefined {
  const value = schema[keyword];
  const isLimit = /^(additional|unevaluated)/.test(keyword) ? value === false : value !== false;
  if (!isLimit) return undefined;
  return JSON.stringify(value, (key, member) => {
    if (/^(title|description|examples?|x-.*)$/.test(key)) return undefined;
    return typeof member === 'bigint' ? String(member) : member;
  });
}
