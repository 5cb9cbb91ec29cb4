import { arrayAt, isObject, type Json, objectAt, token, valueAt } from 'spec-first-server/internal/document/document';
import { parts } from 'spec-first-server/internal/document/schema';

/** Which way a body goes: `readOnly` and `writeOnly` depend on it. */
export type Direction = 'request' | 'response';

/** A Schema Object, or a boolean, where it stands in a document. `pointer` is a JSON pointer (RFC 6901). */
export interface Place {
  readonly root: Json;
  readonly schema: unknown;
  readonly pointer: string;
}

/** One way in which some value fits one schema and not the other. */
export interface Difference {
  /** The value inside the body: `address.street`, `tags[]`; empty for the whole. */
  readonly path: string;
  readonly text: string;
  /** Where the newer document says so. */
  readonly pointer: string;
  /** A name that nobody used before: formally a difference, in practice none. */
  readonly harmless: boolean;
}

/** The schemas that must hold together, once a choice is made in every `anyOf`, `oneOf` and list of types. */
interface Branch {
  readonly type: string | undefined;
  readonly parts: readonly Place[];
}

const BRANCHES = 200;

/** Numbers for which a greater one admits fewer values, and for which a smaller one does. */
const LOWER = ['minLength', 'minItems', 'minProperties'];
const UPPER = ['maxLength', 'maxItems', 'maxProperties'];
/** Each of their values that one schema has, the other must have too. */
const OPAQUE = [
  ...['pattern', 'uniqueItems', 'contentMediaType', 'contentEncoding', 'contentSchema', 'not', 'if', 'then', 'else'],
  ...['contains', 'minContains', 'maxContains', 'propertyNames', 'patternProperties', 'dependentRequired'],
  'dependentSchemas',
];
/** The type of value that a keyword speaks of; the others speak of any. */
const SPEAKS_OF: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['minLength', 'maxLength', 'pattern'].map((key) => [key, 'string'])),
  ...Object.fromEntries(['minItems', 'maxItems', 'uniqueItems', 'contains'].map((key) => [key, 'array'])),
  ...Object.fromEntries(['minProperties', 'maxProperties', 'propertyNames'].map((key) => [key, 'object'])),
};
/** A format and the formats that admit all its values. */
const WIDER: Readonly<Record<string, readonly string[]>> = { int32: ['int64'], float: ['double'] };

/**
 * Finds what keeps one schema from lying within another, as far as their keywords tell (JSON Schema 2020-12): values
 * that fit all of `inner` but not all of `outer`. In doubt it finds a difference.
 */
export class Containment {
  readonly #direction: Direction;
  readonly #outerIsNewer: boolean;
  readonly #known = new Map<string, readonly Difference[]>();

  /**
   * @param direction in requests what is `readOnly` must not be there, in responses what is `writeOnly`.
   * @param outerIsNewer whether `outer` is the newer one, for the words and places of the differences.
   */
  constructor(direction: Direction, outerIsNewer: boolean) {
    this.#direction = direction;
    this.#outerIsNewer = outerIsNewer;
  }

  differences(inner: readonly Place[], outer: readonly Place[]): readonly Difference[] {
    const key = [inner, outer].map((places) => places.map(({ pointer }) => pointer).join(' ')).join(' in ');
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#known.set(key, []); // a schema that contains itself differs only if something else in it does
    const found = this.#compare(inner, outer);
    const distinct = [
      ...new Map(found.map((difference) => [`${difference.path} ${difference.text}`, difference])).values(),
    ];
    this.#known.set(key, distinct);
    return distinct;
  }

  #compare(inner: readonly Place[], outer: readonly Place[]): Difference[] {
    const from = branchesOf(inner);
    const to = branchesOf(outer);
    if (from === undefined || to === undefined) {
      const same =
        JSON.stringify(inner.map(({ schema }) => schema)) === JSON.stringify(outer.map(({ schema }) => schema));
      return same ? [] : [this.#difference('changed in a way that is too intricate to judge', inner, outer)];
    }
    const homeless = new Set<string | undefined>();
    const found = from.flatMap((branch) => {
      const candidates = to.filter(({ type }) => fits(branch.type, type));
      if (candidates.length === 0) homeless.add(branch.type);
      // Values that the one names in a list the other may name one by one.
      const values = candidates.length > 1 ? valuesOf(branch) : undefined;
      const single = [...(values ?? [])].map((value) => {
        const [{ root } = { root: {} }] = branch.parts;
        return { ...branch, parts: [...branch.parts, { root, schema: { const: JSON.parse(value) }, pointer: '' }] };
      });
      const choice = from.length > 1 || to.length > 1;
      return (values === undefined ? [branch] : single).flatMap((one) =>
        fewest(
          candidates.map((candidate) => this.#branchDifferences(one, candidate)),
          choice,
        ),
      );
    });
    if (homeless.size > 0) found.unshift(this.#difference(this.#typeText(homeless, from, to), inner, outer, 'type'));
    return found;
  }

  #typeText(homeless: ReadonlySet<string | undefined>, from: readonly Branch[], to: readonly Branch[]): string {
    const names = (types: Iterable<string | undefined>) =>
      [...new Set(types)].map((type) => type ?? 'anything').join(' or ');
    const typesOf = (branches: readonly Branch[]) => names(branches.map(({ type }) => type));
    if (to.length === 0) return this.#outerIsNewer ? 'is no longer allowed' : 'is now allowed';
    if (from.some(({ type }) => !homeless.has(type))) {
      return this.#outerIsNewer ? `can no longer be ${names(homeless)}` : `can now be ${names(homeless)}`;
    }
    return this.#outerIsNewer
      ? `is now ${typesOf(to)}, was ${typesOf(from)}`
      : `is now ${typesOf(from)}, was ${typesOf(to)}`;
  }

  #branchDifferences(inner: Branch, outer: Branch): Difference[] {
    const found = [...this.#valueDifferences(inner, outer)];
    const type = inner.type ?? outer.type;
    if (type === undefined || type === 'object') found.push(...this.#propertyDifferences(inner, outer));
    if (type === undefined || type === 'array') found.push(...this.#itemDifferences(inner, outer));
    return found;
  }

  #valueDifferences(inner: Branch, outer: Branch): Difference[] {
    const found: Difference[] = [];
    const changed = (keyword: string, from: unknown, to: unknown) => {
      const [after, before] = this.#outerIsNewer ? [to, from] : [from, to];
      const text = `${keyword} is now ${show(after)}, was ${show(before)}`;
      found.push(this.#difference(text, inner.parts, outer.parts, keyword));
    };
    const relevant = (keyword: string) => [undefined, SPEAKS_OF[keyword] ?? inner.type].includes(inner.type);

    const allowed = valuesOf(outer);
    const possible = valuesOf(inner);
    if (allowed !== undefined && possible === undefined) {
      const text = `is ${this.#outerIsNewer ? 'now' : 'no longer'} limited to ${[...allowed].join(', ')}`;
      found.push(this.#difference(text, inner.parts, outer.parts, 'enum'));
    } else if (allowed !== undefined && possible !== undefined) {
      const other = [...possible].filter((value) => !allowed.has(value));
      if (other.length > 0) {
        const text = this.#outerIsNewer ? 'can no longer be' : 'can now be';
        found.push(this.#difference(`${text} ${other.join(' or ')}`, inner.parts, outer.parts, 'enum'));
      }
    }

    const numeric = inner.type === undefined || inner.type === 'number' || inner.type === 'integer';
    for (const [keyword, sign] of numeric
      ? ([
          ['minimum', -1],
          ['maximum', 1],
        ] as const)
      : []) {
      const from = boundOf(inner, keyword, sign);
      const to = boundOf(outer, keyword, sign);
      const wider = sign * (from.value - to.value);
      if (wider > 0 || (wider === 0 && to.exclusive && !from.exclusive)) changed(keyword, describe(from), describe(to));
    }
    for (const keyword of [...LOWER, ...UPPER].filter(relevant)) {
      const sign = LOWER.includes(keyword) ? -1 : 1;
      const limit = (branch: Branch) => Math.min(...numbersOf(branch, keyword).map((value) => sign * value));
      const [from, to] = [limit(inner), limit(outer)];
      const isNone = sign < 0 && to >= 0;
      if (from > to && !isNone) changed(keyword, Number.isFinite(from) ? sign * from : undefined, sign * to);
    }
    const steps = numbersOf(inner, 'multipleOf');
    for (const step of numeric ? numbersOf(outer, 'multipleOf') : []) {
      if (!steps.some((own) => Number.isInteger(own / step))) changed('multipleOf', steps[0], step);
    }
    const formats = keywordOf(inner, 'format');
    for (const format of keywordOf(outer, 'format')) {
      if (!formats.some((own) => own === format || WIDER[String(own)]?.includes(String(format)))) {
        changed('format', formats[0], format);
      }
    }
    for (const keyword of OPAQUE.filter(relevant)) {
      const own = keywordOf(inner, keyword).map((value) => JSON.stringify(value));
      for (const value of keywordOf(outer, keyword)) {
        const harmless = keyword === 'uniqueItems' && value === false;
        if (!harmless && !own.includes(JSON.stringify(value))) changed(keyword, keywordOf(inner, keyword)[0], value);
      }
    }
    return found;
  }

  #propertyDifferences(inner: Branch, outer: Branch): Difference[] {
    const found: Difference[] = [];
    const from = this.#objectOf(inner);
    const to = this.#objectOf(outer);
    const newer = this.#outerIsNewer ? to : from;
    const newerParts = (this.#outerIsNewer ? outer : inner).parts;
    const say = (name: string, text: string, harmless = false) => {
      const demanding = newerParts.find(({ schema }) => arrayAt(objectAt(schema).required).includes(name));
      const place = demanding && text.endsWith('required') ? `${demanding.pointer}/required` : undefined;
      const difference = this.#difference(`property "${name}" ${text}`, inner.parts, outer.parts);
      const naming = newerParts.find(({ schema }) => objectAt(schema).properties !== undefined);
      const pointer = place ?? newer.properties.get(name)?.[0]?.pointer ?? naming?.pointer ?? difference.pointer;
      found.push({ ...difference, pointer, harmless });
    };
    for (const name of new Set([...from.properties.keys(), ...to.properties.keys()])) {
      const own = from.properties.get(name);
      const other = to.properties.get(name);
      const required = to.required.has(name) && !from.required.has(name);
      if ((own ?? other)?.every(({ schema }) => schema === false)) continue;
      if (own === undefined && (from.rest === undefined || from.rest.length === 0)) {
        const open = from.rest !== undefined;
        if (this.#outerIsNewer) say(name, required ? 'is new and required' : 'is new', !required);
        else if (open || required || this.#direction === 'response') say(name, 'is gone');
        continue;
      }
      if (own !== undefined && other === undefined && to.rest === undefined) {
        say(name, this.#outerIsNewer ? 'is no longer allowed' : 'is new');
        continue;
      }
      if (required) say(name, this.#outerIsNewer ? 'is now required' : 'is no longer required');
      const values = own ?? from.rest;
      if (values !== undefined) found.push(...this.#inside(name, values, other ?? to.rest ?? []));
    }
    for (const name of to.required) {
      if (from.required.has(name) || from.properties.has(name) || to.properties.has(name)) continue;
      say(name, this.#outerIsNewer ? 'is now required' : 'is no longer required');
    }
    if (to.rest === undefined && from.rest !== undefined) {
      const text = `properties of other names are ${this.#outerIsNewer ? 'no longer' : 'now'} allowed`;
      found.push(this.#difference(text, inner.parts, outer.parts, 'additionalProperties'));
    } else if (to.rest !== undefined && from.rest !== undefined) {
      found.push(...this.#inside('*', from.rest, to.rest));
    }
    return found;
  }

  #itemDifferences(inner: Branch, outer: Branch): Difference[] {
    const at = (branch: Branch, index: number): Place[] =>
      branch.parts.flatMap(({ root, schema, pointer }) => {
        const source = objectAt(schema);
        const prefix = arrayAt(source.prefixItems);
        const [value, key] =
          index < prefix.length
            ? [prefix[index], `prefixItems/${index}`]
            : source.items !== undefined
              ? [source.items, 'items']
              : [source.unevaluatedItems, 'unevaluatedItems'];
        return value === undefined ? [] : [{ root, schema: value, pointer: `${pointer}/${key}` }];
      });
    const prefixes = [...inner.parts, ...outer.parts].map(({ schema }) => arrayAt(objectAt(schema).prefixItems).length);
    const length = Math.max(0, ...prefixes);
    return Array.from({ length: length + 1 }, (_, index) => index).flatMap((index) =>
      this.#inside(index < length ? `[${index}]` : '[]', at(inner, index), at(outer, index)),
    );
  }

  #inside(step: string, inner: readonly Place[], outer: readonly Place[]): Difference[] {
    if (outer.length === 0) return [];
    return this.differences(inner, outer).map((difference) => {
      const { path } = difference;
      return { ...difference, path: path === '' || path.startsWith('[') ? step + path : `${step}.${path}` };
    });
  }

  /** What a branch says of an object; `rest` is what holds of properties of other names, `undefined` if there are none. */
  #objectOf({ parts: all }: Branch) {
    const properties = new Map<string, Place[]>();
    const required = new Set<string>();
    const hidden = new Set<string>();
    let rest: Place[] | undefined = [];
    for (const { root, schema, pointer } of all) {
      const source = objectAt(schema);
      for (const [name, property] of Object.entries(objectAt(source.properties))) {
        const keyword = this.#direction === 'request' ? 'readOnly' : 'writeOnly';
        const isHidden = parts(root, property).some((part) => part[keyword] === true);
        if (isHidden) hidden.add(name);
        const at = `${pointer}/properties/${token(name)}`;
        const place = isHidden
          ? { root, schema: false, pointer: `${at}/${keyword}` }
          : { root, schema: property, pointer: at };
        properties.set(name, [...(properties.get(name) ?? []), place]);
      }
      for (const name of arrayAt(source.required)) required.add(String(name));
      for (const keyword of ['additionalProperties', 'unevaluatedProperties']) {
        const value = source[keyword];
        if (value === false) rest = undefined;
        else if (isObject(value) && Object.keys(value).length > 0) {
          rest?.push({ root, schema: value, pointer: `${pointer}/${keyword}` });
        }
      }
    }
    for (const name of hidden) required.delete(name);
    return { properties, required, rest };
  }

  #difference(text: string, inner: readonly Place[], outer: readonly Place[], keyword?: string): Difference {
    const newer = this.#outerIsNewer ? outer : inner;
    const saying =
      keyword === undefined ? undefined : newer.find(({ schema }) => objectAt(schema)[keyword] !== undefined);
    const pointer = saying === undefined ? newer[0]?.pointer : `${saying.pointer}/${keyword}`;
    return { path: '', text, pointer: pointer ?? '', harmless: false };
  }
}

/** Every way to satisfy the schemas together; empty if there is none, `undefined` if there are too many. */
function branchesOf(places: readonly Place[]): Branch[] | undefined {
  const choices = choicesOf(places, new Set());
  return choices?.flatMap((all): Branch[] => {
    if (all.some(({ schema }) => schema === false)) return [];
    const limited = valuesOf({ type: undefined, parts: all });
    const lists = all.flatMap(({ schema }) => {
      const { type } = objectAt(schema);
      return type === undefined ? [] : [(Array.isArray(type) ? type : [type]).map(String)];
    });
    if (limited !== undefined) lists.push([...new Set([...limited].map((value) => typeOf(JSON.parse(value))))]);
    const [first, ...others] = lists;
    if (first === undefined) return [{ type: undefined, parts: all }];
    const types = others.reduce(
      (left, right) => [
        ...left.filter((type) => right.some((other) => fits(type, other))),
        ...right.filter((type) => left.some((other) => other !== type && fits(type, other))),
      ],
      first,
    );
    return [...new Set(types)].map((type) => ({ type, parts: all }));
  });
}

function choicesOf(places: readonly Place[], seen: ReadonlySet<string>): Place[][] | undefined {
  let choices: Place[][] = [[]];
  const multiply = (lists: readonly Place[][]) => {
    choices = choices.flatMap((choice) => lists.map((list) => [...choice, ...list]));
    return choices.length <= BRANCHES;
  };
  for (const place of places) {
    const { root, schema, pointer } = place;
    if (seen.has(pointer)) continue;
    if (!isObject(schema)) {
      if (schema === false) multiply([[place]]);
      continue;
    }
    const inside = new Set([...seen, pointer]);
    multiply([[place]]);
    const together = arrayAt(schema.allOf).map((item, index) => ({
      root,
      schema: item,
      pointer: `${pointer}/allOf/${index}`,
    }));
    if (typeof schema.$ref === 'string') {
      together.unshift({ root, schema: valueAt(root, schema.$ref), pointer: decodeURIComponent(schema.$ref.slice(1)) });
    }
    const lists = choicesOf(together, inside);
    if (lists === undefined || !multiply(lists)) return undefined;
    for (const key of ['anyOf', 'oneOf']) {
      if (!Array.isArray(schema[key])) continue;
      const alternatives: Place[][] = [];
      for (const [index, item] of schema[key].entries()) {
        const alternative = { root, schema: item, pointer: `${pointer}/${key}/${index}` };
        const ways = choicesOf([alternative, ...discriminating(place, alternative)], inside);
        if (ways === undefined) return undefined;
        alternatives.push(...ways);
      }
      if (!multiply(alternatives)) return undefined;
    }
  }
  return choices;
}

/** What a Discriminator Object (OpenAPI 3.1 §4.8.25) demands of a value that is to be of an alternative. */
function discriminating({ root, schema, pointer }: Place, alternative: Place): Place[] {
  const { propertyName, mapping } = objectAt(objectAt(schema).discriminator);
  const ref = objectAt(alternative.schema).$ref;
  if (typeof propertyName !== 'string' || typeof ref !== 'string') return [];
  const name = ref.slice(ref.lastIndexOf('/') + 1);
  const mapped = Object.entries(objectAt(mapping)).filter(([, target]) => target === ref || target === name);
  const values = mapped.length > 0 ? mapped.map(([value]) => value) : [name];
  const demanded = { type: 'object', required: [propertyName], properties: { [propertyName]: { enum: values } } };
  return [{ root, schema: demanded, pointer: `${pointer}/discriminator/${token(name)}` }];
}

/** The values that `enum` and `const` leave, as JSON; `undefined` if they leave all. */
function valuesOf({ type, parts: all }: Branch): Set<string> | undefined {
  const lists = all.flatMap(({ schema }) => {
    const source = objectAt(schema);
    const own = Array.isArray(source.enum) ? [source.enum] : [];
    return Object.hasOwn(source, 'const') ? [...own, [source.const]] : own;
  });
  const [first, ...others] = lists.map((list) => new Set(list.map((value) => JSON.stringify(value))));
  if (first === undefined) return undefined;
  const common = [...first].filter((value) => others.every((other) => other.has(value)));
  return new Set(common.filter((value) => fits(typeOf(JSON.parse(value)), type)));
}

interface Bound {
  /** ±Infinity where there is none. */
  readonly value: number;
  readonly exclusive: boolean;
}

function boundOf(branch: Branch, keyword: 'minimum' | 'maximum', sign: 1 | -1): Bound {
  const exclusive = keyword === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum';
  const bounds = [
    { value: sign * Number.POSITIVE_INFINITY, exclusive: false },
    ...numbersOf(branch, keyword).map((value) => ({ value, exclusive: false })),
    ...numbersOf(branch, exclusive).map((value) => ({ value, exclusive: true })),
  ];
  return bounds.reduce((tightest, bound) => {
    const tighter = sign * (tightest.value - bound.value);
    return tighter > 0 || (tighter === 0 && bound.exclusive) ? bound : tightest;
  });
}

const describe = ({ value, exclusive }: Bound): string | undefined =>
  Number.isFinite(value) ? `${value}${exclusive ? ' (exclusive)' : ''}` : undefined;

const keywordOf = ({ parts: all }: Branch, keyword: string): unknown[] =>
  all.map(({ schema }) => objectAt(schema)[keyword]).filter((value) => value !== undefined);

const numbersOf = (branch: Branch, keyword: string): number[] =>
  keywordOf(branch, keyword).filter((value) => typeof value === 'number');

/** Whether all values of a type are values of another; `undefined` is any type. */
const fits = (inner: string | undefined, outer: string | undefined): boolean =>
  outer === undefined || inner === outer || (inner === 'integer' && outer === 'number');

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

const show = (value: unknown): string =>
  value === undefined ? 'none' : typeof value === 'object' ? JSON.stringify(value) : String(value);

/** The differences from the alternative that comes nearest; a name that is new in another alternative tells nothing. */
function fewest(lists: readonly Difference[][], choice: boolean): Difference[] {
  const real = (list: readonly Difference[]) => list.filter(({ harmless }) => !harmless);
  const [nearest = []] = lists.toSorted((a, b) => real(a).length - real(b).length || a.length - b.length);
  return choice && real(nearest).length > 0 ? real(nearest) : nearest;
}
