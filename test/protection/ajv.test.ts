import { expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { Schemas, stringifyJson } from 'openapi-document';
import { randomly } from './randomly.ts';
import { FORMATS, type Keywords, mapKeywords, opened, type Schema } from './schemas.ts';
import { documentOf } from './serve.ts';

const ajv = new Ajv2020({
  strict: false,
  validateSchema: false,
  multipleOfPrecision: 6,
});
addFormats.default(ajv);

/** Returns a function that validates a value with Ajv. */
function compile(schema: Schema): (value: unknown) => boolean {
  const document = documentOf({ Root: forAjv(schema) });
  ajv.removeSchema().addSchema(document, 'document');
  const validate = ajv.compile({ $ref: 'document#/components/schemas/Root' });
  return (value) => validate(smaller(value));
}

/** Returns the schema of requests and that of replies. */
function read(schema: Schema) {
  const schemas = new Schemas(documentOf({ Root: schema }));
  const root = '#/components/schemas/Root';
  return { request: schemas.at(root, 'request'), reply: schemas.at(root, 'response') };
}

/** Returns a schema that means the same for Ajv, in spite of its faults. */
const forAjv = (schema: Schema): Schema =>
  mapKeywords(schema, ({ contains, maxContains, ...keywords }) => {
    const { if: test, then = true, else: otherwise = true, dependentSchemas, ...rest } = keywords;
    const allOf = [...(rest.allOf ?? [])];
    const select = (condition: Schema, selected: Schema, other: Schema) =>
      allOf.push({
        anyOf: [{ allOf: [condition, selected] }, { allOf: [{ not: condition }, other] }],
      });
    // Ajv counts the members of an `if` that fails as evaluated.
    if (test !== undefined) select(test, then, otherwise);
    // Without the member, Ajv forgets the members that other schemas evaluate.
    for (const [name, dependent] of Object.entries(dependentSchemas ?? {}))
      select({ type: 'object', required: [String(smaller(name))] }, dependent, true);
    // Ajv accepts an empty array if `contains` is beside `prefixItems`.
    if (contains !== undefined) allOf.push(withValues({ contains, maxContains }));
    return { ...Object(smaller(rest)), allOf };
  });

const withValues = (keywords: Keywords): Keywords =>
  Object.fromEntries(Object.entries(keywords).filter(([_key, value]) => value !== undefined));

/**
 * Replaces integers beyond 2^53, which Ajv cannot represent, by smaller ones with the same order
 * and the same small factors; and `constructor`, which Ajv finds in every object.
 */
function smaller(value: unknown): unknown {
  if (value === 'constructor') return 'constructoR';
  if (typeof value === 'bigint')
    return Number(value - (value < 2n ** 61n ? 2n ** 53n - 2n ** 50n : 2n ** 62n - 2n ** 51n));
  if (Array.isArray(value)) return value.map(smaller);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [smaller(name), smaller(member)]);
  return Object.fromEntries(members);
}

/**
 * Returns a schema without keywords of OpenAPI, and without what Ajv gets wrong. All integers are
 * int64: others are limited to 2^53 - 1 in requests.
 */
function plain(schema: Schema): Schema {
  // Ajv counts all items as evaluated by `contains`.
  const hasUnevaluated = stringifyJson(schema).includes('unevaluatedItems');
  return mapKeywords(schema, ({ readOnly, writeOnly, contains, format, ...rest }) =>
    withValues({
      ...rest,
      format: [rest.type].flat().includes('integer') ? 'int64' : format,
      contains: hasUnevaluated ? undefined : contains,
    }),
  );
}

/** Texts that only Ajv accepts. */
const INVALID: Readonly<Record<string, RegExp>> = {
  // The first segment of a reference has no colon (RFC 3986 §4.2).
  'uri-reference': /^[\d:].*:/,
  // Not an escape of ECMA-262.
  regex: /^\\a$/,
};

test.each(Object.keys(FORMATS))('%s: Ajv accepts the same texts', (format) => {
  const schema = { type: 'string', format };
  const accepts = compile(schema);
  const { request } = read(schema);
  for (const text of Object.values(FORMATS).flat()) {
    const isValid = accepts(text) && INVALID[format]?.test(text) !== true;
    expect({ text, isValid: request.isValid(text) }).toEqual({ text, isValid });
  }
});

/** The number of random schemas. No service has to start for them. */
const RUNS = 60;

test('requests: Ajv accepts the same values', () =>
  randomly(
    plain,
    async (schema) => {
      const accepts = compile(schema);
      const { request } = read(schema);
      return async (value) => {
        expect({ value, isValid: request.isValid(value) }).toEqual({
          value,
          isValid: accepts(value),
        });
      };
    },
    RUNS,
  ));

test('replies: Ajv accepts the same values, if undeclared members are allowed', () =>
  randomly(
    (schema) => opened(plain(schema)),
    async (schema) => {
      const accepts = compile(schema);
      const { reply } = read(schema);
      return async (value) => {
        const sent = accepts(value) ? value : undefined;
        expect({ value, sent: reply.check(value).value }).toEqual({ value, sent });
      };
    },
    RUNS,
  ));

test('replies: undeclared members are removed, and Ajv accepts what is sent', () =>
  randomly(
    plain,
    async (schema) => {
      const accepts = compile(schema);
      const { reply } = read(schema);
      return async (value) => {
        const { value: sent, violations } = reply.check(value);
        if (violations !== undefined) return;
        expect({ value, sent, isValid: accepts(sent), isPart: isPart(sent, value) }).toEqual({
          value,
          sent,
          isValid: true,
          isPart: true,
        });
      };
    },
    RUNS,
  ));

/** Returns true if a value has only members of another one. */
function isPart(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part) && Array.isArray(whole))
    return part.length === whole.length && part.every((item, index) => isPart(item, whole[index]));
  if (typeof part !== 'object' || part === null) return Object.is(part, whole);
  return Object.entries(part).every(
    ([name, member]) => Object.hasOwn(Object(whole), name) && isPart(member, Object(whole)[name]),
  );
}
