import { asArray, asObject, asStrings, type Json } from '../source/document.ts';
import { KEYWORDS_OF_TYPES, type LimitKeyword } from '../source/keywords.ts';
import { TYPE_BITS, typeBitOf, typeBits } from './json-types.ts';
import { type Exact, isExact, tightest } from './numbers.ts';

/** Reads the limits, types and constants that several schemas of one value declare. */
export class Facts {
  protected readonly schemas: readonly Json[];

  constructor(schemas: readonly Json[]) {
    this.schemas = schemas;
  }

  /** Lists the values of a keyword. */
  protected values(keyword: string): readonly unknown[] {
    return this.schemas.flatMap((schema) =>
      Object.hasOwn(schema, keyword) ? [schema[keyword]] : [],
    );
  }

  protected texts(keyword: string): readonly string[] {
    return this.values(keyword).filter((value) => typeof value === 'string');
  }

  /** The types that all `type` keywords allow, as bits. `undefined` without the keyword. */
  get declaredTypes(): number | undefined {
    const masks = this.values('type').map((type) => typeBits([type].flat()));
    return masks.length === 0 ? undefined : masks.reduce((types, next) => types & next);
  }

  /** The types that any schema names or implies, as `properties` implies `object`, as bits. */
  get impliedTypes(): number {
    return this.schemas.reduce((types, schema) => types | typesIn(schema), 0);
  }

  /** The types that keywords restrict, as `pattern` restricts strings. */
  get restrictedTypes(): readonly (keyof typeof KEYWORDS_OF_TYPES)[] {
    return RESTRICTABLE.filter((type) =>
      KEYWORDS_OF_TYPES[type].some((keyword) => this.values(keyword).length > 0),
    );
  }

  /** True if a keyword names or restricts types, or lists the values. */
  get isTyped(): boolean {
    const names = this.values('type').length + this.constantLists.length;
    return names + this.restrictedTypes.length > 0;
  }

  /** The lists of values in `enum` and `const`. */
  get constantLists(): readonly (readonly unknown[])[] {
    const constants = this.values('const').map((value) => [value]);
    return [...this.values('enum').filter((list) => Array.isArray(list)), ...constants];
  }

  /** The examples of the schema itself (JSON Schema 2020-12, Validation §9.5). */
  get examples(): readonly unknown[] {
    return [...this.values('example'), ...this.values('examples').flatMap(asArray)];
  }

  get defaults(): readonly unknown[] {
    return this.values('default');
  }

  get default(): { readonly value: unknown } | undefined {
    const { defaults } = this;
    return defaults.length === 0 ? undefined : { value: defaults[0] };
  }

  /** True if only requests or only responses have the value. */
  get isOneWay(): boolean {
    return [...this.values('readOnly'), ...this.values('writeOnly')].includes(true);
  }

  get formats(): readonly string[] {
    return this.texts('format');
  }

  get patterns(): readonly string[] {
    return this.texts('pattern');
  }

  get hasDistinctItems(): boolean {
    return this.values('uniqueItems').includes(true);
  }

  /** Lists the limits of a keyword with a number, such as `maximum` or `minItems`. */
  limits(keyword: LimitKeyword): readonly Exact[] {
    return this.values(keyword).filter(isExact);
  }

  /** Returns the tightest limit of a keyword. */
  limit(keyword: LimitKeyword): Exact | undefined {
    return tightest(this.values(keyword), /^(min|exclusiveMin|multiple)/.test(keyword));
  }

  /** Returns the limits of a size: of characters or bytes, items, or properties. */
  sizes(of: 'Length' | 'Items' | 'Properties'): { readonly min: number; readonly max: number } {
    const min = Number(this.limit(`min${of}`) ?? 0);
    return { min, max: Number(this.limit(`max${of}`) ?? Number.POSITIVE_INFINITY) };
  }

  /** True for `format: int64`, or a value beyond ±(2^53−1). */
  get isWide(): boolean {
    const values = VALUE_KEYWORDS.flatMap((keyword) => this.values(keyword));
    return this.formats.includes('int64') || values.flat().some(isBigInt);
  }

  /** True if values are integers of 64 bits: the limits may exclude those beyond ±(2^53−1). */
  get isInt64(): boolean {
    const bounds = [
      this.limit('minimum') ?? this.limit('exclusiveMinimum'),
      this.limit('maximum') ?? this.limit('exclusiveMaximum'),
    ];
    return this.isWide && !bounds.every((bound) => Number.isSafeInteger(bound));
  }

  /** True if a schema allows no members but those that it declares. */
  get isClosed(): boolean {
    return this.values('additionalProperties').includes(false);
  }

  get required(): ReadonlySet<string> {
    return new Set(this.values('required').flatMap(asStrings));
  }

  /** The names in `properties`. */
  get names(): ReadonlySet<string> {
    return new Set(this.values('properties').flatMap((members) => Object.keys(asObject(members))));
  }

  /** Lists the schemas that `properties` has for a name. */
  declared(name: string): readonly unknown[] {
    return this.values('properties').flatMap((properties) => {
      const members = asObject(properties);
      return Object.hasOwn(members, name) ? [members[name]] : [];
    });
  }

  /** The schemas of members whose names `properties` does not list. */
  get otherMembers(): readonly unknown[] {
    return this.schemas
      .flatMap(({ additionalProperties, unevaluatedProperties, patternProperties }) => [
        additionalProperties ?? unevaluatedProperties ?? false,
        ...Object.values(asObject(patternProperties)),
      ])
      .filter((schema) => schema !== false);
  }

  /** The patterns in `patternProperties`. */
  get namePatterns(): readonly string[] {
    const lists = this.values('patternProperties').map((members) => Object.keys(asObject(members)));
    return [...new Set(lists.flat())];
  }
}

const RESTRICTABLE = ['object', 'array', 'string', 'number'] as const;

const VALUE_KEYWORDS = [
  ...['enum', 'const', 'default', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
];

const isBigInt = (value: unknown): boolean => typeof value === 'bigint';

/** Returns the types in `type`, or else the types that other keywords imply, as bits. */
function typesIn(schema: Json): number {
  const { type, items, prefixItems, properties } = schema;
  if (type !== undefined) return typeBits([type].flat());
  const values = Object.hasOwn(schema, 'const') ? [schema.const] : asArray(schema.enum);
  let types = (items ?? prefixItems) === undefined ? 0 : TYPE_BITS.array;
  if (properties !== undefined) types |= TYPE_BITS.object;
  for (const value of values)
    types |=
      typeof value === 'number' && !Number.isInteger(value) ? TYPE_BITS.number : typeBitOf(value);
  return types;
}

/** Returns the types that all schemas allow, as bits, or else the types that they imply. */
export function namedTypes(schemas: readonly Json[]): number | undefined {
  const facts = new Facts(schemas);
  return facts.declaredTypes ?? (facts.impliedTypes || undefined);
}
