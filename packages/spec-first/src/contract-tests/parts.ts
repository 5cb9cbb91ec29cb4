import { isDeepStrictEqual } from 'node:util';
import {
  asObject,
  type Coder,
  concreteType,
  formField,
  isObject,
  type Json,
  type MediaType,
  type Operation,
  type Outline,
  type Parameter,
  ParameterError,
  parameterReader,
  parseJson,
  readFields,
  stringifyJson,
  type Violation,
  writeForm,
} from 'openapi-document';
import { writeParameters } from 'openapi-document/client';
import { chosenValue, valuesOf } from 'openapi-document/samples';
import { type CheckedOperation, objectOf } from './check-response.ts';
import { onlyObjectIn } from './compare.ts';
import { isCursor } from './paging.ts';
import { withoutRoundingErrors } from './variants.ts';

/** The values of a request, before serialization. */
export interface RequestValues {
  readonly path: Json;
  readonly query: Json;
  readonly header: Json;
  readonly cookie: Json;
  readonly body?: unknown;
  /** The media type of the body. */
  readonly media?: MediaType | undefined;
}

/** The part of a body that a service should store. */
export interface SentBody {
  /** The value without members that its schema, or the chosen alternative, does not declare. */
  readonly sent: unknown;
  /** The value with its defaults. */
  readonly filled: unknown;
  readonly outline: Outline | undefined;
}

/** Bytes that are no text in UTF-8. */
const BYTES = Uint8Array.of(0xff, 0, 0x7f);

/** A text whose ends a service may remove. */
const SPACED_TEXT = ' text\r\n ';

const NO_VALUES: RequestValues = { path: {}, query: {}, header: {}, cookie: {} };

/** A parameter or the body. */
export interface RequestPart {
  readonly in: Parameter['in'] | 'body';
  /** Empty for a body. */
  readonly name: string;
  readonly required: boolean;
  readonly schema?: unknown;
  /** The form of its values, by the schema. */
  readonly outline: Outline;
  /** The Parameter Object. */
  readonly source?: Json;
  /** The examples of the document. They may be invalid. */
  readonly examples: readonly unknown[];
}

/** Returns the value of a part. `undefined` if the request does not have it. */
export const partOf = (values: RequestValues, { in: where, name }: RequestPart): unknown =>
  where === 'body' ? values.body : values[where][name];

/** Returns the values with another value of a part. `undefined` removes it. */
export function withValue(
  values: RequestValues,
  { in: where, name }: RequestPart,
  value: unknown,
): RequestValues {
  if (where === 'body') return { ...values, body: value };
  const { [name]: _former, ...others } = values[where];
  return { ...values, [where]: value === undefined ? others : { ...others, [name]: value } };
}

export function sentBodyOf(
  { schemas }: Pick<CheckedOperation, 'schemas'>,
  { body, media }: RequestValues,
): SentBody {
  const { outline } = media ?? {};
  if (body instanceof Uint8Array || !isObject(body) || media === undefined)
    return { sent: body, filled: body, outline };
  // As in a response, undeclared members are dropped.
  const { value: sent = body } = schemas.at(media.schema, 'response').check(body);
  const { value: filled } = schemas.at(media.schema, 'request').check(sent);
  return { sent, filled, outline };
}

/**
 * Returns the object in a body that contains nothing else, as `{ "task": { … } }`.
 *
 * @param shown the form of the resource in responses.
 */
export function unwrapped(
  shown: Outline | undefined,
  { sent, filled, outline }: SentBody,
): SentBody {
  const { name, inner } = onlyObjectIn(sent) ?? {};
  if (name === undefined || shown?.member(name).isDescribed) return { sent, filled, outline };
  return { sent: inner, filled: asObject(filled)[name], outline: outline?.member(name) };
}

/** The requests with one media type. */
export interface RequestKind {
  readonly media: MediaType | undefined;
  readonly parts: readonly RequestPart[];
  /** Valid values: first with all parts and members, then with the required ones only. */
  readonly samples: readonly RequestValues[];
  /** Returns valid values by choice. Zeros lead to the simplest ones. */
  choose(next: () => number): RequestValues;
  /** Returns the violations of a request. `undefined` if it cannot be sent unchanged. */
  violations(values: RequestValues): readonly Violation[] | undefined;
}

/** The number of attempts to choose values that can be sent. */
const MAX_TRIES = 5;

/** The number of samples of one kind of requests. */
const MAX_SAMPLES = 12;

/**
 * Returns the requests with one media type. One schema has the parameters and the body as members:
 * it makes the values, and decides if they are valid.
 */
export function requestKindOf(
  { schemas, operation, codecs }: CheckedOperation,
  media: MediaType | undefined,
): RequestKind {
  const coder = media && codecs.of(media, concreteType(media.type));
  // The service does not validate such a body, for example XML.
  const isFree = coder?.unit === 'bytes' && media?.outline.restrictsBytes === false;
  const freeBody = media?.type === 'text/plain' ? SPACED_TEXT : BYTES;
  const parameters = operation.parameters.map((parameter) => ({
    ...parameter,
    examples: parameter.examples.map(({ value }) => value),
  }));
  const bodies = media === undefined ? [] : [bodyOf(media, coder?.unit === 'items', isFree)];
  const required = operation.requestBody?.required === true;
  const parts: RequestPart[] = [...parameters, ...bodies.map((body) => ({ ...body, required }))];
  // Only responses contain valid cursors.
  const groups = Map.groupBy(
    parameters.filter((parameter) => !isCursor(parameter)),
    (parameter) => parameter.in,
  );
  const schemaWith = (change: typeof withExamples) =>
    objectOf([
      ...[...groups].map(([name, group]) => ({
        ...{ name, required: true },
        schema: objectOf(group.map(change)),
      })),
      ...bodies.map((body) => ({ ...change(body), name: 'body', required })),
    ]);
  let schema = schemaWith((part) => part);
  const validity = schemas.at(schema, 'sent');
  const readBody = media && coder && bodyReader(media, coder);
  const readParameters = parameterReader(operation);

  function violations(values: RequestValues): readonly Violation[] | undefined {
    let received = receivedParameters(values);
    if (received === undefined) return undefined;
    let isUnchanged = true;
    for (const parameter of parameters) {
      const value = partOf(values, parameter);
      const read = partOf(received, parameter);
      if (value !== undefined && read === undefined) return undefined;
      // Services differ in how they read an empty list.
      if (Array.isArray(value) && value.length === 0) return undefined;
      isUnchanged &&= isDeepStrictEqual(read, value);
    }
    if (values.body !== undefined && media !== undefined && coder !== undefined) {
      if (!isWritable(media, coder, values.body)) return undefined;
      try {
        const body = isFree ? 'text' : readBody?.(values.body);
        received = { ...received, body };
        isUnchanged &&= !isForm(coder) || isSameForm(values.body, body);
      } catch (error) {
        if (!(error instanceof ParameterError)) return undefined;
        return [{ path: '/body', keyword: 'type', params: {}, message: error.message }];
      }
    }
    const { violations: found = [] } = validity.check(received, { files: true });
    return found.length > 0 || isUnchanged ? found : undefined;
  }

  /** Returns the parameters as a service reads them. `undefined` if they cannot be sent. */
  function receivedParameters(values: RequestValues): RequestValues | undefined {
    let written: ReturnType<typeof writtenParameters>;
    try {
      written = writtenParameters(operation, values);
    } catch {
      return undefined;
    }
    const [path = '', query = ''] = written.url.split('?');
    const headers = Object.entries(written.headers);
    // Services differ in how they read an empty header, characters beyond ASCII, and outer spaces.
    if (!headers.every(([, text]) => /^[!-~](?:[ -~]*[!-~])?$/.test(text))) return undefined;
    const inLowerCase = headers.map(([name, text]) => [name.toLowerCase(), text] as const);
    const read = readParameters({ path, query, headers: Object.fromEntries(inLowerCase) });
    return read.violations.length > 0 ? undefined : read.values;
  }

  const complete = (value: unknown): RequestValues => ({
    ...NO_VALUES,
    ...asObject(rounded(value)),
    media,
  });
  const isValid = (values: RequestValues) => violations(values)?.length === 0;
  const sampled = () =>
    [...valuesOf(schemas, schema, 'request').take(MAX_SAMPLES)].map(complete).filter(isValid);
  let samples = sampled();
  if (samples.length === 0) {
    schema = schemaWith(withExamples);
    samples = sampled();
  }
  return {
    media,
    parts,
    samples,
    violations,
    choose(next) {
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const values = complete(chosenValue(schemas, schema, 'request', next));
        if (!isValid(values)) continue;
        return isFree && next() % 2 === 1 ? { ...values, body: freeBody } : values;
      }
      return samples[next() % samples.length] ?? NO_VALUES;
    },
  };
}

function bodyOf(media: MediaType, isStream: boolean, isFree: boolean) {
  const items = isStream ? media.items : undefined;
  const schema = isFree ? { const: 'text' } : (items ?? media).schema;
  const examples = media.examples.flatMap(({ value }) => (items ? [value].flat() : [value]));
  return { in: 'body' as const, name: '', outline: media.outline, schema, examples };
}

/** Returns a schema with the examples of a part, which its values may have. */
const withExamples = <Part extends { schema?: unknown; examples: readonly unknown[] }>(
  part: Part,
): Part => {
  const { schema = true, examples } = part;
  return { ...part, schema: examples.length > 0 ? { allOf: [schema], examples } : schema };
};

/** Returns a value that JSON can express, without rounding errors in its numbers. */
function rounded(value: unknown): unknown {
  const decimal = (_key: string, item: unknown) =>
    typeof item === 'bigint' ? JSON.rawJSON(`${item}`) : withoutRoundingErrors(item);
  const text = JSON.stringify(value, decimal);
  return text === undefined ? undefined : parseJson(text);
}

/**
 * Serializes the parameters of a request. `null` is sent as an empty text, to test that the service
 * validates it.
 *
 * @throws {TypeError} for a value that cannot be sent.
 */
export const writtenParameters = (operation: Operation, values: RequestValues) =>
  writeParameters(
    operation,
    operation.parameters.reduce(
      (all, parameter) =>
        partOf(all, parameter) === null && !parameter.json ? withValue(all, parameter, '') : all,
      values,
    ),
  );

/**
 * Returns a function that serializes a body and parses it as the server does. In
 * `multipart/form-data`, the values of file fields become files.
 */
function bodyReader(media: MediaType, coder: Coder): (value: unknown) => unknown {
  if (coder.unit === 'form') return (form) => coder.read(coder.write(form, media), media);
  // An integer beyond 2^53 becomes a bigint.
  if (coder.unit !== 'parts')
    return (value) => (isTextOrBytes(coder) ? value : parseJson(stringifyJson(value) ?? 'null'));
  const isText = (name: string) => formField(media, name).kind().isText;
  return (form) => {
    const fields = Object.entries(asObject(form));
    const texts = Object.fromEntries(fields.filter(([name]) => isText(name)));
    const pairs = new URLSearchParams(writeForm(texts, media.encoding));
    const files = fields
      .filter(([name]) => !isText(name))
      .flatMap(([name, value]) => [value].flat().map((item) => [name, fileOf(item)] as const));
    const byName = Map.groupBy([...pairs, ...files], ([name]) => name);
    return readFields(
      media,
      new Map([...byName].map(([name, list]) => [name, list.map(([, value]) => value)])),
      { isPlain: true },
    );
  };
}

export const fileOf = (content: unknown, type = ''): File =>
  new File([String(content)], 'file', { type });

/** Returns true if each field has the sent values. The text `1` differs from 1. Ignores files. */
const isSameForm = (sent: unknown, received: unknown): boolean =>
  Object.entries(asObject(sent)).every(([name, value]) => {
    const values = [asObject(received)[name]].flat();
    return values.some((item) => item instanceof File) || isDeepStrictEqual(values, [value].flat());
  });

const isForm = ({ unit }: Coder): boolean => unit === 'form' || unit === 'parts';

/** Returns true for bodies that are sent as they are. */
export const isTextOrBytes = (coder: Coder): boolean =>
  coder.unit === 'bytes' || coder.acceptsStreams === true;

function isWritable(format: MediaType, coder: Coder, value: unknown): boolean {
  // An empty body is a missing body.
  if (isTextOrBytes(coder)) return value === BYTES || (typeof value !== 'object' && value !== '');
  // A form has no text for an empty list.
  const isSent = (field: unknown) => !(Array.isArray(field) && field.length === 0);
  if (isForm(coder))
    return isObject(value) && Object.keys(value).length > 0 && Object.values(value).every(isSent);
  if (coder.unit !== 'items') return true;
  try {
    coder.write(value, { format, contentType: format.type });
    return true;
  } catch {
    return false;
  }
}
