import { isDeepStrictEqual } from 'node:util';
import {
  asObject,
  type Coder,
  formReader,
  isObject,
  type Json,
  type MediaType,
  type Outline,
  type Parameter,
  ParameterError,
  parseJson,
  readParameter,
  stringifyJson,
  type Violation,
  writeForm,
  writeParameter,
} from 'openapi-document';
import { isSendable } from 'openapi-document/client';
import { chosenValue, valuesOf } from 'openapi-document/samples';
import { type CheckedOperation, violationsOf } from './check-response.ts';
import { withoutRoundingErrors } from './variants.ts';

/** A parameter, or a body of one media type. */
export interface RequestPart {
  readonly in: Parameter['in'] | 'body';
  /** Empty for a body. */
  readonly name: string;
  readonly required: boolean;
  /** The form of its values, by the schema. */
  readonly outline: Outline;
  /** Set only for a body. */
  readonly media?: MediaType;
  /** Valid values from the examples of the document. */
  readonly examples: readonly unknown[];
  /** A valid value with all members, and one with the required members only. */
  readonly samples: readonly unknown[];
  /** Returns a valid value, see `chosenValue`. Zeros lead to the simplest value. */
  choose(next: () => number): unknown;
  /** Returns the violations of a value. `undefined` if it cannot be sent unchanged. */
  violations(value: unknown): readonly Violation[] | undefined;
}

/** The values of a request, before serialization. */
export type RequestValues = ReadonlyMap<RequestPart, unknown>;

/** Returns the values in one place of a request by name. The name of a body is empty. */
export const valuesByName = (values: RequestValues, where: RequestPart['in']): Json =>
  Object.fromEntries(
    [...values].filter(([part]) => part.in === where).map(([{ name }, value]) => [name, value]),
  );

export const isValid = (part: RequestPart, value: unknown): boolean =>
  part.violations(value)?.length === 0;

/** Samples for a missing schema and for the schema `true`. */
const ANY_VALUES = ['text', 1, true, {}];

/** The number of attempts to choose a value that can be sent. */
const MAX_TRIES = 5;

/**
 * Returns the parameters of an operation, and a body for each media type. Omits optional parameters
 * and media types without a valid value.
 *
 * @throws {Error} if no valid value is found for a required parameter or a required body.
 */
export function requestPartsOf({ schemas, operation, validator }: CheckedOperation): {
  parameters: RequestPart[];
  bodies: RequestPart[];
} {
  const { codecs } = validator;
  // `fetch` sends no body with GET or HEAD.
  const hasBody = operation.method !== 'get' && operation.method !== 'head';
  const { requestBody = { media: [], required: false } } = hasBody ? operation : {};
  const createPart = (
    schema: unknown,
    declared: Pick<RequestPart, 'in' | 'name' | 'required' | 'media' | 'violations'>,
    examples: readonly unknown[],
    fixedSamples?: readonly unknown[],
  ): RequestPart => {
    const canSend = (value: unknown) => declared.violations(value)?.length === 0;
    const generated = isObject(schema) ? valuesOf(schemas, schema, 'request').take(12) : ANY_VALUES;
    const samples = [...(fixedSamples ?? generated)].map(rounded).filter(canSend);
    return {
      ...declared,
      outline: schemas.outline(schema),
      examples: examples.filter(canSend),
      samples,
      choose(next) {
        const isFixed = fixedSamples !== undefined || !isObject(schema);
        for (let tries = 0; tries < MAX_TRIES && !isFixed; tries += 1) {
          const value = rounded(chosenValue(schemas, schema, 'request', next));
          if (canSend(value)) return value;
        }
        return samples[next() % samples.length] ?? examples[0];
      },
    };
  };
  const noParameters = () => ({ path: {}, query: {}, header: {}, cookie: {} });
  const parameters = operation.parameters.map((parameter) => {
    const { in: where, name, required, schema } = parameter;
    const violations = (value: unknown) => {
      const read = writtenAndRead(parameter, value);
      // The validator adds defaults to its input, so it gets a copy.
      const values = { ...noParameters(), [where]: { [name]: structuredClone(read) } };
      const found = violationsOf(() => validator.parameters(values));
      return found.length > 0 || isDeepStrictEqual(read, value) ? found : undefined;
    };
    const examples = parameter.examples.map(({ value }) => value);
    return createPart(schema, { in: where, name, required, violations }, examples);
  });
  const bodies = requestBody.media.map((media) => {
    const coder = codecs.of(media);
    const isForm = coder.unit === 'form';
    // Parses the value as the server does: an integer beyond 2^53 becomes a bigint.
    const read = isForm
      ? formParser(media, coder)
      : (value: unknown) => parseJson(stringifyJson(value) ?? 'null');
    const violations = (value: unknown) => {
      if (!isWritable(media, coder, value)) return undefined;
      let received: unknown;
      try {
        received = read(value);
      } catch (error) {
        if (!(error instanceof ParameterError)) return undefined;
        return [{ path: '/body', keyword: 'type', message: error.message }];
      }
      const found = violationsOf(() => validator.body(media, received));
      return found.length > 0 || !isForm || isSameForm(value, received) ? found : undefined;
    };
    const items = coder.unit === 'items' ? media.items : undefined;
    const examples = media.examples.flatMap(({ value }) =>
      items === undefined ? [value] : [value].flat(),
    );
    const { schema } = items ?? media;
    // The service does not validate such a body, for example XML. Any text is valid.
    const isUnconstrained = coder.unit === 'bytes' && !media.outline.restrictsBytes;
    return createPart(
      schema,
      { in: 'body', name: '', required: requestBody.required, media, violations },
      examples,
      isUnconstrained ? ['text', '🌵'] : undefined,
    );
  });
  const hasValidValue = ({ examples, samples }: RequestPart): boolean =>
    examples.length + samples.length > 0;
  const missing = parameters.find((parameter) => parameter.required && !hasValidValue(parameter));
  if (missing !== undefined || (requestBody.required && !bodies.some(hasValidValue))) {
    const place =
      missing === undefined ? 'the body' : `the ${missing.in} parameter ${missing.name}`;
    const advice = 'Add an example to the document, or check that a value can satisfy the schema.';
    throw new Error(`No valid value was found for ${place}. ${advice}`);
  }
  return { parameters: parameters.filter(hasValidValue), bodies: bodies.filter(hasValidValue) };
}

/** Returns a value that JSON can express, without rounding errors in its numbers. */
function rounded(value: unknown): unknown {
  const decimal = (_key: string, item: unknown) =>
    typeof item === 'bigint' ? JSON.rawJSON(`${item}`) : withoutRoundingErrors(item);
  const text = JSON.stringify(value, decimal);
  return text === undefined ? undefined : parseJson(text);
}

/** Serializes and parses the value of a parameter. Returns `undefined` if it cannot be sent. */
function writtenAndRead(parameter: Parameter, value: unknown): unknown {
  try {
    const text = writeParameter(parameter, value);
    // Services differ in how they read an empty header, and characters beyond ASCII.
    const isClear = parameter.in !== 'header' || /^[\x20-\x7e]+$/.test(text);
    return isClear && isSendable(parameter.in, text) ? readParameter(parameter, text) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns a function that serializes a form and parses it as the server does. In
 * `multipart/form-data`, the values of file fields become files.
 */
function formParser(media: MediaType, coder: Coder): (form: unknown) => unknown {
  if (coder.unit === 'form' && coder.isText)
    return (form) => coder.read(coder.write(form, media), media);
  const reader = formReader(media);
  const isText = (name: string) => reader.partOf(name).isText;
  return (form) => {
    const fields = Object.entries(asObject(form));
    const texts = Object.fromEntries(fields.filter(([name]) => isText(name)));
    const files = fields
      .filter(([name]) => !isText(name))
      .map(([name, value]) => [name, [value].flat().map((item) => fileOf(item))] as const);
    const textsByName = Map.groupBy(
      new URLSearchParams(writeForm(texts, media.encoding)),
      ([name]) => name,
    );
    const textLists = [...textsByName].map(
      ([name, pairs]) => [name, pairs.map(([, text]) => text)] as const,
    );
    return reader.multipart(new Map<string, readonly (string | File)[]>([...textLists, ...files]));
  };
}

export const fileOf = (content: unknown, type = ''): File =>
  new File([String(content)], 'file', { type });

/** Returns true if each field has the sent values. The text `1` differs from 1. Ignores files. */
const isSameForm = (sent: unknown, received: unknown): boolean =>
  Object.entries(asObject(sent)).every(([name, value]) => {
    const receivedValues = [asObject(received)[name]].flat();
    const isFile = receivedValues.some((item) => item instanceof File);
    return isFile || isDeepStrictEqual(receivedValues, [value].flat());
  });

/** Returns true for bodies that are sent as they are. */
export const isTextOrBytes = (coder: Coder): boolean =>
  coder.unit === 'bytes' || coder.acceptsStreams === true;

function isWritable(format: MediaType, coder: Coder, value: unknown): boolean {
  // An empty body is a missing body.
  if (isTextOrBytes(coder)) return typeof value !== 'object' && value !== '';
  if (coder.unit === 'form') return isObject(value) && Object.keys(value).length > 0;
  if (coder.unit !== 'items') return true;
  try {
    coder.write(value, { format, contentType: format.type }, 0);
    return true;
  } catch {
    return false;
  }
}
