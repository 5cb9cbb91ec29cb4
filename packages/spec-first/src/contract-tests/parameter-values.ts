import { isDeepStrictEqual } from 'node:util';
import {
  asObject,
  examplesOf,
  type Json,
  type Parameter,
  readParameter,
  resolveRef,
  valueAt,
  writeParameter,
} from 'openapi-document';
import { type Context, samplesOf } from './values.ts';
import { type Variant, variantsOf } from './variants.ts';

/** The values of a parameter that the tests of an operation send. */
export interface ParameterValues {
  readonly parameter: Parameter;
  /** Declared examples come first. */
  readonly valid: readonly unknown[];
  readonly examples: number;
  readonly invalid: readonly Variant[];
}

/** How many variants of a value are tried. */
const TRIED = 500;

export function parameterValues({ root, checks }: Context, parameter: Parameter): ParameterValues {
  const check = checks(parameter.schema, 'request');
  const isValid = (value: unknown) => {
    const read = isSendable(parameter, value) ? readBack(root, parameter, value) : undefined;
    return read !== undefined && check(read) === undefined && isDeepStrictEqual(read, value);
  };
  const isInvalid = (value: unknown) => {
    if (!isSendable(parameter, value)) return false;
    const read = readBack(root, parameter, value);
    return read !== undefined && check(read) !== undefined;
  };
  const examples = examplesIn(root, parameter).filter(isValid);
  const samples = samplesOf(root, parameter.schema).filter(isValid);
  const bases = [...examples, ...samples];
  const different = bases.filter((value, index) => bases.findIndex((other) => typeof other === typeof value) === index);
  const variants: Variant[] = [
    { at: '', how: 'is empty', value: '' },
    ...different.flatMap((base) => variantsOf(root, [parameter.schema], base).take(TRIED).toArray()),
  ];
  const valid = [
    ...examples,
    ...samples.slice(0, 3),
    ...different,
    ...variants.map(({ value }) => value).filter(isValid),
  ];
  return {
    parameter,
    valid: unique(valid),
    examples: examples.length,
    invalid: variants.filter(({ value }) => isInvalid(value)),
  };
}

/** What a server reads of a value that is written in the parameter's style; `undefined` if it reads nothing. */
function readBack(root: Json, parameter: Parameter, value: unknown): unknown {
  try {
    return readParameter(root, parameter, writeParameter(parameter, value));
  } catch {
    return undefined;
  }
}

/** Whether a value can be sent at its place. */
function isSendable(parameter: Parameter, value: unknown): boolean {
  if (parameter.in === 'query') return true;
  const text = writeParameter(parameter, value);
  // A URL without these segments is the same URL (RFC 3986 §5.2.4).
  if (parameter.in === 'path') return text !== '' && !/^\.\.?$/.test(text);
  return /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text);
}

/** The declared examples of a parameter (OpenAPI 3.1 §4.8.12.2.1). */
function examplesIn(root: Json, { pointer }: Parameter): unknown[] {
  const source: Json = resolveRef(root, valueAt(root, pointer)) ?? {};
  const [media] = Object.values(asObject(source.content));
  return [source, asObject(media)].flatMap((of) => examplesOf(root, { source: of, pointer })).map(({ value }) => value);
}

const unique = (values: readonly unknown[]): unknown[] =>
  values.filter((value, index) => values.findIndex((other) => isDeepStrictEqual(other, value)) === index);
