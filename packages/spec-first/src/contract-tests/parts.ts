import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json, type Operation, type Parameter, parseJson, stringifyJson } from 'openapi-document';
import { valuesOf } from 'openapi-document/samples';
import { inDecimals } from './candidates.ts';
import { mismatch, validatorsOf } from './checks.ts';
import type { Part } from './values.ts';
import { isWritable } from './write-request.ts';

/** How many values are made of a schema. Most schemas need one: the others are made by changing it. */
const SAMPLES = 12;

const NOTHING = { path: {}, query: {}, header: {}, cookie: {} };

/** The parameters of an operation and its bodies, one for each media type, with valid values. @throws {Error} for none */
export function partsOf(root: Json, operation: Operation): { parameters: Part[]; bodies: Part[] } {
  const { parameters, requestBody } = operation;
  // Each part is validated alone: an operation with this part only.
  const alone = parameters.map((parameter) => ({ ...operation, parameters: [parameter], requestBody: undefined }));
  const bare = { ...operation, parameters: [] };
  const validatorOf = validatorsOf(root, [...alone, bare]);

  const parameterParts = parameters.map((parameter, index) => {
    const { in: where, name } = parameter;
    const validator = validatorOf(alone[index] ?? bare);
    const verdict = remembered((value) => {
      const read = readBack(parameter, value);
      if (read === undefined) return undefined;
      // The validator fills in defaults.
      const values = { ...NOTHING, [where]: { [name]: structuredClone(read) } };
      if (mismatch(() => validator.request(values, undefined, undefined)) !== undefined) return 'broken';
      return isDeepStrictEqual(read, value) ? 'valid' : undefined;
    });
    const shown = parameter.examples().map(({ value }) => value);
    return part(root, { ...parameter, parameter, verdict }, shown);
  });
  const bodyParts = (requestBody?.media ?? []).map((media) => {
    const { items, kind } = media;
    const validator = validatorOf(bare);
    const verdict = (value: unknown) => {
      if (!isWritable(media, value)) return undefined;
      // As a server reads it: an integer that is no safe number is a bigint.
      const copy = kind === 'multipart' ? value : parseJson(stringifyJson(value) ?? 'null');
      const check = () =>
        items === undefined ? validator.request(structuredClone(NOTHING), media, copy) : validator.item(media, copy);
      return mismatch(check) === undefined ? 'valid' : 'broken';
    };
    const shown = media.examples().flatMap(({ value }) => (items === undefined ? [value] : [value].flat()));
    const schema = items === undefined ? media.schema : items.schema;
    const required = requestBody?.required ?? false;
    // Only the media type can read such a text, XML for example.
    const isFree = kind === 'stream' && items === undefined;
    const texts = isFree && !media.constrained ? ['text', '🌵'] : undefined;
    return part(root, { in: 'body', name: '', required, schema, media, verdict }, shown, texts);
  });
  const bodies = bodyParts.filter(hasValue);
  if (requestBody?.required && bodies.length === 0) throw noValue('the body');
  for (const each of parameterParts) {
    if (each.required && !hasValue(each)) throw noValue(`the ${each.in} parameter ${each.name}`);
  }
  return { parameters: parameterParts.filter(hasValue), bodies };
}

/** Each scalar is tried many times, beside others. */
function remembered(verdict: Part['verdict']): Part['verdict'] {
  const known = new Map<unknown, ReturnType<Part['verdict']>>();
  return (value) => {
    if (isObject(value) || Array.isArray(value)) return verdict(value);
    if (!known.has(value)) known.set(value, verdict(value));
    return known.get(value);
  };
}

const hasValue = ({ examples, made }: Part): boolean => examples.length + made.length > 0;

function part(root: Json, of: Omit<Part, 'examples' | 'made'>, shown: readonly unknown[], made?: unknown[]): Part {
  const isValid = (value: unknown) => of.verdict(value) === 'valid';
  const samples =
    made ?? (isObject(of.schema) ? valuesOf(root, of.schema, 'readOnly').take(SAMPLES).map(rounded) : ANY);
  return { ...of, examples: shown.filter(isValid), made: [...samples].filter(isValid) };
}

const ANY = ['text', 1, true, {}];

/** A value as JSON has it, with numbers in decimals. */
function rounded(value: unknown): unknown {
  if (typeof value === 'number') return inDecimals(value);
  if (Array.isArray(value)) return value.map(rounded);
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(members.map(([name, item]) => [name, rounded(item)]));
}

const noValue = (what: string) =>
  new Error(
    `No valid value was found for ${what}. Give it an example in the document, or check that its schema has one.`,
  );

/** What a server reads of a value that is written in the parameter's style; `undefined` if it reads nothing. */
function readBack(parameter: Parameter, value: unknown): unknown {
  try {
    const text = parameter.write(value);
    return isSendable(parameter, text) ? parameter.read(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a text can be sent at its place. */
function isSendable({ in: where }: Parameter, text: string): boolean {
  if (where === 'query') return true;
  // A URL without these segments is the same URL (RFC 3986 §5.2.4).
  if (where === 'path') return text !== '' && !/^\.\.?$/.test(text);
  return /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text);
}
