import { parseJson } from '../json/exact.ts';
import { InvalidJson, MAX_DEPTH } from '../json/parser.ts';
import type { Budget } from '../schema/budget.ts';
import { formOf, TYPE_BITS } from '../schema/json-types.ts';
import type { Outline } from '../schema/outline.ts';
import {
  coerce,
  coerceItems,
  coerceObject,
  cookiesOf,
  type Pairs,
  type PathText,
  pairsOf,
  percentDecoded,
  splitOnce,
} from './texts.ts';
import { type Styled, styleOf } from './write-value.ts';

/** Thrown if a parameter or a form field cannot be parsed. */
export class ParameterError extends Error {
  /** The name of the parameter or the field. */
  readonly parameter: string;
  /** A predicate, such as `must be given once`. */
  readonly reason: string;

  constructor(parameter: string, reason: string) {
    super(`${parameter} ${reason}`);
    this.parameter = parameter;
    this.reason = reason;
  }
}

/**
 * Parses JSON. If the schema allows strings, a text that is not JSON is returned unchanged.
 *
 * @param name of the parameter or the field.
 * @throws {ParameterError}
 */
export function readJson(name: string, schema: Outline, text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!schema.hasTypes || (schema.typeBits & TYPE_BITS.string) !== 0) return text;
    throw error instanceof InvalidJson ? new ParameterError(name, error.message) : error;
  }
}

/** A parameter, a header or a field with the facts that its values are read with. */
export type Readable = Styled & { readonly outline: Outline };

/**
 * Returns a function that returns the parameters or fields to which a name of a query or a form
 * belongs: those with the name, or else the exploded objects with such a property, or else the
 * exploded objects with members of any name.
 *
 * @param others names that belong to none of them.
 */
export function nameOwnership(readers: readonly ValueReader[], others: ReadonlySet<string>) {
  const byName = (isSpread: boolean) => {
    const lists = new Map<string, ValueReader[]>();
    for (const reader of readers)
      if (reader.isSpread === isSpread)
        for (const name of reader.names) lists.set(name, [...(lists.get(name) ?? []), reader]);
    return lists;
  };
  const whole = byName(false);
  const spread = byName(true);
  const open = readers.filter(({ takesAnyName }) => takesAnyName);
  return (name: string): readonly ValueReader[] => {
    if (others.has(name)) return [];
    const owners = whole.get(name);
    if (owners !== undefined) return owners;
    const deep = readers.find(({ deepPath }) => deepPath(name) !== undefined);
    return deep === undefined ? (spread.get(name) ?? open) : [deep];
  };
}

type ValueReader = ReturnType<typeof valueReader>;

/** Returns a function that decodes a text by the place of a parameter, like `encoderOf`. */
export function decoderOf({
  in: where,
  isPlain,
}: Pick<Styled, 'in' | 'isPlain'>): (text: string) => string {
  if (isPlain) return (text) => text;
  return where === 'header' ? (text) => text.trim() : percentDecoded;
}

/** Prepares to parse a value by its style. */
export function valueReader(parameter: Readable) {
  const { name, in: where, style, outline, json, explode } = parameter;
  const { prefix, delimiter, delimiters, exploded, isNamed } = styleOf(parameter);
  const shape = json ? 'json' : formOf(outline.typeBits);
  const decode = decoderOf(parameter);
  const isDeep = style === 'deepObject';
  /** True if each property of an object is a separate name in the query. */
  const isQueryStyle = where === 'query' && /^form$|Delimited$/.test(style);
  const isSpread = isQueryStyle && explode && shape === 'object';
  const properties = outline.names;
  /**
   * True for an exploded object with members of any name. Its members are all query names that no
   * other parameter declares. A declared property is no member, either, if it is the name of
   * another parameter.
   */
  const takesAnyName = isSpread && outline.otherMembers.length > 0;

  return {
    in: where,
    name,
    isSpread,
    takesAnyName,
    /** The query names of the parameter. Names such as `filter[a]` are matched by `deepPath`. */
    names: isSpread ? properties : new Set([name]),
    deepPath,
    fromPairs,
    /**
     * Parses the parameter. Without `pairs`, `text` must have the format that `writeParameter`
     * returns.
     *
     * @param pairs the names and values of the query or the cookies. By default, those in `text`.
     * @param isOwn returns false for the names of other parameters.
     * @param budget pays for the patterns of names.
     * @throws {URIError | ParameterError | BudgetExceeded}
     */
    read(
      text: string | undefined,
      pairs: Pairs = where === 'query' ? pairsOf(text ?? '') : cookiesOf(text),
      isOwn?: (name: string) => boolean,
      budget?: Budget,
    ): unknown {
      if (where === 'query') return fromPairs(pairs, isOwn, budget);
      return fromText(where === 'cookie' ? cookieText(pairs.get(name)) : text, budget);
    },
  };

  /** In the style `matrix`, the text contains the name of the parameter. */
  function fromText(text: string | undefined, budget: Budget | undefined): unknown {
    if (!text?.startsWith(prefix)) return undefined;
    if (shape === 'json') return readJson(name, outline, decode(text));
    const unnamed = (part: string) => {
      if (!isNamed) return part;
      const [key, value] = splitOnce(part, '=');
      if (decode(key) === name) return value;
      throw new ParameterError(name, `must begin with ${prefix}${name}=`);
    };
    const isExploded = explode && where !== 'query';
    const bare = text.slice(prefix.length);
    if (shape === 'text') return coerce(outline, decode(unnamed(bare)), budget);
    const list = isExploded ? bare : unnamed(bare);
    const texts = list === '' ? [] : list.split(isExploded ? exploded : delimiters);
    if (shape === 'array') {
      const items = isExploded ? texts.map(unnamed) : texts;
      return coerceItems(outline, items.map(decode), budget);
    }
    const pairs = isExploded
      ? texts.map((part) => splitOnce(part, '='))
      : texts.flatMap((part, index) =>
          index % 2 === 0 ? [[part, texts[index + 1] ?? ''] as const] : [],
        );
    const entries = pairs.map(([key, value]): PathText => [[decode(key)], decode(value)]);
    return coerceObject(outline, entries, budget);
  }

  /** Parses a parameter of a query or a form. */
  function fromPairs(
    pairs: Pairs,
    isOwn: (name: string) => boolean = () => true,
    budget?: Budget,
  ): unknown {
    if (isDeep || isSpread) {
      const entries = [...pairs].flatMap(([key, texts]) => {
        const isMember = isSpread && (takesAnyName || properties.has(key)) && isOwn(key);
        const path = isMember ? [key] : deepPath(key);
        if (path === undefined) return [];
        if (path.length > MAX_DEPTH)
          throw new ParameterError(name, `must be nested at most ${MAX_DEPTH} levels deep`);
        return texts.map((text): PathText => [path, decode(text)]);
      });
      return entries.length === 0 ? undefined : coerceObject(outline, entries, budget);
    }
    const values = pairs.get(name) ?? [];
    // Several values are an array, also if the schema allows a scalar.
    const isArray =
      values.length > 1 ? !json && (outline.typeBits & TYPE_BITS.array) !== 0 : shape === 'array';
    if (isArray && values.length > 0 && explode)
      return coerceItems(outline, values.map(decode), budget);
    if (values.length > 1) throw new ParameterError(name, onceReason());
    return fromText(values[0], budget);
  }

  function onceReason(): string {
    const reason = 'must be given once';
    if (shape !== 'array') return reason;
    return `${reason}, with values separated by ${delimiter === ',' ? 'commas' : delimiter}`;
  }

  /**
   * Returns the path inside a parameter of the style `deepObject`: `['a', 'b']` for `filter[a][b]`,
   * and an empty array for `filter`. Returns `undefined` for a name of another parameter.
   */
  function deepPath(key: string): string[] | undefined {
    if (!isDeep || !key.startsWith(name)) return undefined;
    const inside = key.slice(name.length);
    if (inside === '') return [];
    const parts = inside.slice(1, -1).split('][');
    const isPath = inside.startsWith('[') && inside.endsWith(']');
    return isPath && !parts.some((part) => /[[\]]/.test(part)) ? parts : undefined;
  }

  /**
   * Joins several cookies with the same name if the parameter is an array with `explode`. Otherwise
   * uses the first one, which has the longest path (RFC 6265 §5.4).
   */
  function cookieText(values: readonly string[] | undefined): string | undefined {
    return explode && shape === 'array' ? values?.join(',') : values?.[0];
  }
}
