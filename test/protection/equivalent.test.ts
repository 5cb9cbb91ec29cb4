import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { randomly } from './randomly.ts';
import { mapSchemas, mapValues, type Schema } from './schemas.ts';
import { type Answers, documentOf, JSON_TYPE, serve } from './serve.ts';
import type { Draw } from './values.ts';

type Components = Readonly<Record<string, Schema>>;

/** Moves some schemas to components, and refers to them. */
function withReferences(schema: Schema, draw: Draw): Components {
  const components: Record<string, Schema> = {};
  components.Root = mapSchemas(schema, (part) => {
    if (draw(fc.boolean)) return part;
    const name = `Part${Object.keys(components).length}`;
    components[name] = part;
    return { $ref: `#/components/schemas/${name}` };
  });
  return components;
}

/** Keywords that only have a meaning together. The type and its bounds match none. */
const TOGETHER = [
  /^(properties|patternProperties|additionalProperties)$/,
  /^(prefixItems|items)$/,
  /^(contains|maxContains)$/,
  /^(if|then|else)$/,
  /^(oneOf|discriminator)$/,
  /^(anyOf|allOf|not|required|dependent.*|propertyNames|uniqueItems|.*(Properties|Items|Length))$/,
  /^(readOnly|writeOnly|default)$/,
];
const BESIDE = /^(\$ref|unevaluated.*)$/;

/** Splits some schemas into the parts of an `allOf`, in any order. */
const withParts = (schema: Schema, draw: Draw): Schema =>
  mapSchemas(schema, (part) => {
    if (typeof part === 'boolean' || draw(fc.boolean)) return part;
    const entries = Object.entries(part);
    const beside = entries.filter(([keyword]) => BESIDE.test(keyword));
    const groups = Map.groupBy(
      entries.filter(([keyword]) => !BESIDE.test(keyword)),
      ([keyword]) => TOGETHER.findIndex((group) => group.test(keyword)),
    );
    const allOf = [...groups.values(), []].map((group): Schema => Object.fromEntries(group));
    return { ...Object.fromEntries(beside), allOf: shuffled(allOf, draw) };
  });

const shuffled = <T>(items: readonly T[], draw: Draw): T[] =>
  draw(() => fc.shuffledSubarray([...items], { minLength: items.length }));

/** Changes the order of the members of each object. */
function permuted(value: unknown, draw: Draw): unknown {
  if (Array.isArray(value)) return value.map((item) => permuted(item, draw));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.fromEntries(shuffled(Object.entries(value), draw));
  return mapValues(members, (member) => permuted(member, draw));
}

type Send = (value: unknown) => Promise<Answers>;

const variants: Readonly<Record<string, (schema: Schema, draw: Draw) => Promise<Send>>> = {
  'schemas behind references': (schema, draw) => serve(documentOf(withReferences(schema, draw))),
  'parts of an allOf': (schema, draw) => serve(documentOf({ Root: withParts(schema, draw) })),
  async 'members in another order'(schema, draw) {
    const send = await serve(Object(permuted(documentOf({ Root: schema }), draw)));
    return (value) => send(permuted(value, draw));
  },
  'another media type'(schema) {
    const other = 'application/vnd.other+json';
    return serve(documentOf({ Root: schema }, { mediaTypes: [JSON_TYPE, other] }), other);
  },
};

test.each(Object.entries(variants))('the answers are the same with %s', (_title, serveVariant) =>
  randomly(
    (schema) => schema,
    async (schema, draw) => {
      const send = await serve(documentOf({ Root: schema }));
      return expectSame(send, await serveVariant(schema, draw));
    },
  ),
);

const expectSame = (send: Send, sendVariant: Send) => async (value: unknown) => {
  expect({ value, ...(await sendVariant(value)) }).toEqual({ value, ...(await send(value)) });
};

const NEW_KEYWORDS =
  /^(const|prefixItems|.*[cC]ontains|if|then|else|dependent.*|patternProperties|propertyNames|unevaluated.*)$/;

/** Returns a schema without keywords that OpenAPI 3.0 does not have. */
const old = (schema: Schema): Schema =>
  mapSchemas(schema, (part) => {
    if (typeof part === 'boolean') return part ? {} : { not: {} };
    const entries = Object.entries(part).filter(([keyword]) => !NEW_KEYWORDS.test(keyword));
    const values = 'const' in part && { enum: [part.const] };
    return {
      ...(part.type === 'array' && { items: {} }),
      ...values,
      ...Object.fromEntries(entries),
    };
  });

/** Writes a schema as in OpenAPI 3.0. */
const inOldSyntax = (schema: Schema): Schema =>
  mapSchemas(schema, (part) => {
    const { type, exclusiveMaximum, ...rest } = Object(part);
    const isNullable = Array.isArray(type) && { nullable: true };
    const isExclusive = { maximum: exclusiveMaximum, exclusiveMaximum: true };
    return {
      ...rest,
      ...(type && { type: [type].flat()[0] }),
      ...isNullable,
      ...(exclusiveMaximum !== undefined && isExclusive),
    };
  });

test('the answers are the same with OpenAPI 3.0', () =>
  randomly(old, async (schema) => {
    const send = await serve(documentOf({ Root: schema }));
    const variant = documentOf({ Root: inOldSyntax(schema) }, { openapi: '3.0.3' });
    return expectSame(send, await serve(variant));
  }));
