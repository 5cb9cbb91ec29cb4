import fc from 'fast-check';

export type Schema = boolean | Keywords;
type ByName<T> = Readonly<Record<string, T>>;

export interface Keywords extends ByName<unknown> {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: ByName<Schema>;
  readonly patternProperties?: ByName<Schema>;
  readonly dependentSchemas?: ByName<Schema>;
  readonly additionalProperties?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly if?: Schema;
  readonly then?: Schema;
  readonly else?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly items?: Schema;
  readonly contains?: Schema;
}

/** Keywords whose values are schemas, lists of schemas, or schemas by name. */
const ONE = /^(items|contains|not|if|then|else|propertyNames|additionalProperties|unevaluated.*)$/;
const LIST = /^(allOf|anyOf|oneOf|prefixItems)$/;
const BY_NAME = /^(properties|patternProperties|dependentSchemas)$/;

/** Returns a schema in which each schema was replaced, the innermost first. */
export function mapSchemas(schema: Schema, replace: (schema: Schema) => Schema): Schema {
  if (typeof schema === 'boolean') return replace(schema);
  const map = (part: unknown) => mapSchemas(part as Schema, replace);
  const mapped = mapValues(schema, (value, keyword) => {
    if (ONE.test(keyword)) return map(value);
    if (LIST.test(keyword)) return Object.values(Object(value)).map(map);
    return BY_NAME.test(keyword) ? mapValues(Object(value), map) : value;
  });
  return replace(mapped);
}

export const mapValues = <T>(
  object: ByName<unknown>,
  map: (value: unknown, name: string) => T,
): Record<string, T> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value, name)]));

/** Like {@link mapSchemas}, for schemas that are not `true` or `false`. */
export const mapKeywords = (schema: Schema, map: (keywords: Keywords) => Schema): Schema =>
  mapSchemas(schema, (part) => (typeof part === 'boolean' ? part : map(part)));

/** Returns a schema that allows all undeclared members, so that replies keep them. */
export const opened = (schema: Schema): Schema =>
  mapKeywords(schema, (part) => {
    const open = Object.entries(part).filter(([_keyword, value]) => value !== false);
    return {
      ...(part.type === 'object' && { additionalProperties: true }),
      ...Object.fromEntries(open),
    };
  });

/** A reference to the whole schema. */
export const ROOT: Keywords = { $ref: '#/components/schemas/Root' };

export const NAMES = ['a', 'b', 'c', 'x-d', 'constructor'];
const INTEGERS = [-1, 0, 1, 2, 3];
export const NUMBERS = [...INTEGERS, 0.5, 0.25, 19.99, 0.07, 111848.18];
export const BIG = [2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 2n, 2n ** 62n + 1n];
export const TEXTS = ['', 'a', 'ab', 'abc', '🌵', '🌵🌵', '1'];
export const FORMATS: ByName<readonly string[]> = {
  date: ['2024-02-29', '2023-02-29', '2024-2-1'],
  'date-time': ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.5+02:00', '2024-02-29 12:00'],
  uuid: ['123e4567-e89b-12d3-a456-426614174000', '123e4567'],
  email: ['a@example.com', 'a'],
  ipv4: ['127.0.0.1', '127.0.0.256'],
  ipv6: ['::1', '1:2:3:4:5:6:7:8', '1::2::3'],
  hostname: ['a.example', '-a'],
  uri: ['https://example.com/a', 'a b'],
  'uri-reference': ['/a?b#c', '\\a'],
  time: ['12:00:00Z', '24:00:00Z', '12:00:00'],
  duration: ['P1DT2H', 'PT', 'P1Y2W'],
  'json-pointer': ['/a~1b', 'a', '/~2'],
  regex: ['^a+$', '('],
  byte: ['YQ==', '?', 'YQ'],
};

const TAG = { discriminator: { propertyName: 'kind' } };
const CLOSED = { unevaluatedProperties: false };

const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);
const name = oneOf(...NAMES);
const scalar = oneOf<unknown>(...NUMBERS, ...TEXTS, ...BIG, true, false, null);
export const json = fc.oneof(
  { weight: 4, arbitrary: scalar },
  fc.array(scalar, { maxLength: 2 }),
  fc.dictionary(name, scalar, { maxKeys: 2 }),
);

/** Schemas with some keywords and at most three of the others. */
const keywords = (some: object, others: ByName<fc.Arbitrary<unknown>>) =>
  fc.uniqueArray(oneOf(...Object.keys(others)), { maxLength: 3 }).chain((names) => {
    const chosen = names.map((name) => [name, others[name] ?? fc.constant(null)] as const);
    return fc.record(Object.fromEntries(chosen)).map((values): Schema => ({ ...some, ...values }));
  });

const bounds = (numbers: readonly unknown[]) => ({
  minimum: oneOf(...numbers),
  exclusiveMaximum: oneOf(...numbers),
  multipleOf: oneOf(1, 2, 0.5, 0.1, 0.01),
});
const lengths = { minLength: fc.nat(2), maxLength: fc.integer({ min: 1, max: 3 }) };
const leaf = fc.oneof(
  keywords({ type: 'string' }, lengths),
  keywords({ type: 'string' }, { pattern: oneOf('^a', '^[a-c]*$', '\\d', '^.$') }),
  keywords({ type: 'string' }, { format: oneOf(...Object.keys(FORMATS)) }),
  keywords({ type: 'integer' }, bounds(INTEGERS)),
  keywords({ type: 'integer', format: 'int64' }, bounds(BIG)),
  keywords({ type: 'number' }, bounds(NUMBERS)),
  keywords({ type: ['integer', 'null'] }, bounds(INTEGERS)),
  fc.uniqueArray(json, { minLength: 1, maxLength: 3 }).map((list): Schema => ({ enum: list })),
  json.map((value): Schema => ({ const: value })),
  oneOf<Schema>(true, {}, { type: 'boolean' }),
);

type Part = 'schema' | 'inner' | 'member' | 'object' | 'limits' | 'closed' | 'array' | 'composed';

/** Random schemas. Members and items may refer to the whole schema with {@link ROOT}. */
export const { schema: schemas } = fc.letrec<Record<Part, Schema>>((tie) => {
  const inner = tie('inner');
  const member = tie('member');
  const one = { minLength: 1, maxLength: 2 };
  const names = fc.uniqueArray(name, { maxLength: 2 });
  const members = fc.dictionary(name, member, { maxKeys: 4 });
  const closing = fc.oneof(oneOf<Schema>(false), inner);

  const conditions = Object.fromEntries(['if', 'then', 'else'].map((key) => [key, inner]));
  const tagged = fc
    .tuple(fc.array(members, { minLength: 2, maxLength: 3 }), oneOf<object>({}, TAG))
    .map(([alternatives, tag]): Schema => {
      const oneOf = alternatives.map((others, index) => {
        const properties = { kind: { const: `kind${index}` }, ...others };
        return { type: 'object', properties, required: ['kind'] };
      });
      return { oneOf, ...tag };
    });
  return {
    schema: fc.oneof(tie('object'), tie('array'), tie('composed'), tie('closed')),
    inner: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      tie('object'),
      tie('array'),
      tie('composed'),
    ),
    member: fc.oneof(
      { weight: 6, arbitrary: inner },
      fc.constant(ROOT),
      fc
        .tuple(leaf, oneOf({ readOnly: true }, { writeOnly: true }))
        .map(([schema, direction]): Schema => ({ ...Object(schema), ...direction })),
      fc
        .tuple(leaf, scalar)
        .map(([schema, value]): Schema => ({ ...Object(schema), default: value })),
    ),
    object: fc.tuple(members, tie('limits')).map(
      ([properties, limits]): Schema => ({
        type: 'object',
        properties,
        ...Object(limits),
      }),
    ),
    limits: keywords(
      {},
      {
        required: names,
        minProperties: fc.nat(2),
        maxProperties: fc.integer({ min: 1, max: 5 }),
        dependentRequired: fc.dictionary(name, names, { maxKeys: 1 }),
        dependentSchemas: fc.dictionary(name, inner, { maxKeys: 1 }),
        patternProperties: fc.dictionary(oneOf('^x-', 'b'), inner, { maxKeys: 1 }),
        propertyNames: oneOf({ maxLength: 3 }, { pattern: '^[a-z]' }),
        additionalProperties: closing,
      },
    ),
    closed: fc.tuple(members, fc.array(tie('object'), one), oneOf('allOf', 'anyOf', 'if')).map(
      ([properties, parts, keyword]): Schema => ({
        ...CLOSED,
        type: 'object',
        properties,
        [keyword]: keyword === 'if' ? parts[0] : parts,
      }),
    ),
    array: keywords(
      { type: 'array' },
      {
        prefixItems: fc.array(inner, one),
        items: member,
        contains: inner,
        maxContains: fc.integer({ min: 1, max: 3 }),
        unevaluatedItems: closing,
        uniqueItems: fc.constant(true),
        minItems: fc.nat(2),
        maxItems: fc.integer({ min: 1, max: 4 }),
      },
    ),
    composed: fc.oneof(
      keywords({}, { ...conditions, unevaluatedProperties: closing }),
      fc.array(inner, { ...one, minLength: 2 }).map((anyOf): Schema => ({ anyOf })),
      fc.array(inner, { ...one, minLength: 2 }).map((oneOf): Schema => ({ oneOf })),
      fc
        .tuple(fc.array(inner, one), oneOf<object>({}, CLOSED))
        .map(([allOf, rest]): Schema => ({ allOf, ...rest })),
      inner.map((not): Schema => ({ not })),
      tagged,
    ),
  };
});
