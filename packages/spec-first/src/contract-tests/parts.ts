import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json, type MediaType, type Parameter, parseJson, stringifyJson } from 'openapi-document';
import { valuesOf } from 'openapi-document/samples';
import { type Checked, mismatch } from './checks.ts';
import { inDecimals } from './variants.ts';

/** A parameter, or a body of one media type. */
export interface Part {
  readonly in: Parameter['in'] | 'body';
  /** Empty for a body. */
  readonly name: string;
  readonly required: boolean;
  readonly schema: unknown;
  /** Of a body only. */
  readonly media?: MediaType;
  /** Values that the document shows, and values made from the schema. All are valid. */
  readonly examples: readonly unknown[];
  readonly made: readonly unknown[];
  /** Why a server must reject a value; empty if it must accept it, `undefined` if the value cannot be sent as it is. */
  violation(value: unknown): string | undefined;
}

/** The values of a request, before they are written in their styles. */
export type Values = ReadonlyMap<Part, unknown>;

/** The values of a request in one place, by name. */
export const namedIn = (values: Values, where: Part['in']): Json =>
  Object.fromEntries([...values].filter(([part]) => part.in === where).map(([{ name }, value]) => [name, value]));

/** How many values are made of a schema. Most schemas need one: the others are made by changing it. */
const SAMPLES = 12;

const ANY = ['text', 1, true, {}];

/** The parameters of an operation and its bodies, one for each media type, with valid values. @throws {Error} for none */
export function partsOf({ root, operation, validator }: Checked): { parameters: Part[]; bodies: Part[] } {
  const { requestBody } = operation;
  const part = (of: Omit<Part, 'examples' | 'made'>, shown: readonly unknown[], made?: readonly unknown[]): Part => {
    const isValid = (value: unknown) => of.violation(value) === '';
    const samples = made ?? (isObject(of.schema) ? valuesOf(root, of.schema, 'readOnly').take(SAMPLES) : ANY);
    return { ...of, examples: shown.filter(isValid), made: [...samples].map(rounded).filter(isValid) };
  };
  const nothing = () => ({ path: {}, query: {}, header: {}, cookie: {} });
  const parameters = operation.parameters.map((parameter) => {
    const { in: where, name, required, schema } = parameter;
    const violation = (value: unknown) => {
      const read = readBack(parameter, value);
      if (read === undefined) return undefined;
      // The validator fills in defaults.
      const values = { ...nothing(), [where]: { [name]: structuredClone(read) } };
      const wrong = mismatch(() => validator.request(values, undefined, undefined));
      return wrong ?? (isDeepStrictEqual(read, value) ? '' : undefined);
    };
    const shown = parameter.examples().map(({ value }) => value);
    return part({ in: where, name, required, schema, violation }, shown);
  });
  const bodies = (requestBody?.media ?? []).map((media) => {
    const { items, kind } = media;
    const violation = (value: unknown) => {
      if (!isWritable(media, value)) return undefined;
      // As a server reads it: an integer that is no safe number is a bigint.
      const copy = kind === 'multipart' ? value : parseJson(stringifyJson(value) ?? 'null');
      const check = () =>
        items === undefined ? validator.request(nothing(), media, copy) : validator.item(media, copy);
      return mismatch(check) ?? '';
    };
    const shown = media.examples().flatMap(({ value }) => (items === undefined ? [value] : [value].flat()));
    const { schema } = items ?? media;
    const required = requestBody?.required ?? false;
    // Only the media type can read such a text, XML for example.
    const isFree = kind === 'stream' && items === undefined && !media.constrained;
    return part(
      { in: 'body', name: '', required, schema, media, violation },
      shown,
      isFree ? ['text', '🌵'] : undefined,
    );
  });
  const hasValue = ({ examples, made }: Part): boolean => examples.length + made.length > 0;
  const missing = parameters.find((each) => each.required && !hasValue(each));
  if (missing !== undefined || (requestBody?.required && !bodies.some(hasValue))) {
    const what = missing === undefined ? 'the body' : `the ${missing.in} parameter ${missing.name}`;
    const how = 'Give it an example in the document, or check that its schema has one.';
    throw new Error(`No valid value was found for ${what}. ${how}`);
  }
  return { parameters: parameters.filter(hasValue), bodies: bodies.filter(hasValue) };
}

/** A value as JSON has it, with numbers in decimals. */
function rounded(value: unknown): unknown {
  const decimal = (_key: string, item: unknown) =>
    typeof item === 'bigint' ? JSON.rawJSON(`${item}`) : inDecimals(item);
  return parseJson(JSON.stringify(value, decimal) ?? 'null');
}

/** What a server reads of a value that is written in the parameter's style; `undefined` if it cannot be sent. */
function readBack(parameter: Parameter, value: unknown): unknown {
  try {
    const text = parameter.write(value);
    const isSendable = {
      query: true,
      // A URL without these segments is the same URL (RFC 3986 §5.2.4).
      path: !/^\.{0,2}$/.test(text),
      header: VISIBLE.test(text),
      cookie: VISIBLE.test(text),
    };
    return isSendable[parameter.in] ? parameter.read(text) : undefined;
  } catch {
    return undefined;
  }
}

const VISIBLE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/** Whether a value can be written in a media type. */
function isWritable(media: MediaType, value: unknown): boolean {
  const { kind, items } = media;
  const isScalar = (item: unknown) => typeof item !== 'object';
  if (items !== undefined) {
    try {
      media.itemWriter(media.type).write(value, 0);
      return true;
    } catch {
      return false;
    }
  }
  if (kind === 'json') return true;
  // A body without bytes counts as missing.
  if (kind !== 'form' && kind !== 'multipart') return isScalar(value) && value !== '';
  // `null` and lists without items have no form of their own.
  const isField = (item: unknown) => (Array.isArray(item) ? item.length > 0 && item.every(isScalar) : isScalar(item));
  return isObject(value) && Object.keys(value).length > 0 && Object.values(value).every(isField);
}
