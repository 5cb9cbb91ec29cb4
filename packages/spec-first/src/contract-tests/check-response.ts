import { Readable } from 'node:stream';
import {
  asObject,
  type Codecs,
  type DeclaredResponse,
  declaredFor,
  type Json,
  type MediaType,
  mediaTypeFor,
  type Operation,
  type Outline,
  onFirstUse,
  parseJson,
  readAtOnce,
  readParameter,
  type Schemas,
  UnreadableBody,
  type Violation,
} from 'openapi-document';
import { excerptOf } from './compare.ts';
import { normalizedName, singularOf } from './names.ts';

export interface ReceivedResponse {
  /** The absolute URL of the request. */
  readonly url: string;
  readonly status: number;
  /** The headers, by names in lower case. Several values of one name are joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** True if the sender stopped reading before the end of a stream. */
  readonly isCut: boolean;
}

export interface CheckedOperation {
  readonly schemas: Schemas;
  readonly codecs: Codecs;
  readonly operation: Operation;
}

/** Thrown by a failed check. `check` is its name, such as `each status is declared`. */
export class CheckError extends Error {
  readonly check: string;
  /** The operation whose response is wrong, if it is not the tested one. */
  readonly culprit: Operation | undefined;

  constructor(check: string, message: string, culprit?: Operation) {
    super(message);
    this.check = check;
    this.culprit = culprit;
  }
}

export const describeViolations = (violations: readonly Violation[]): string =>
  violations.map(({ path, message }) => `${path} ${message}`).join('; ');

/** Returns the schema of an object with parameters or headers as members. */
export function objectOf(
  members: readonly { name: string; required: boolean; schema?: unknown }[],
): Json {
  const required = members.filter((member) => member.required).map(({ name }) => name);
  const properties = members.map(({ name, schema = true }) => [name, schema]);
  return { type: 'object', required, properties: Object.fromEntries(properties) };
}

/**
 * Checks a response against the document.
 *
 * @param isStrict true if an undeclared status is an error. Documents often omit common statuses
 *   such as 401. It is always an error to respond with 400 if only 422 is declared, and vice
 *   versa.
 * @throws {CheckError}
 */
export async function checkResponse(
  checked: CheckedOperation,
  response: ReceivedResponse,
  isStrict: boolean,
): Promise<void> {
  const { operation } = checked;
  const { status } = response;
  const declared = declaredFor(operation, status);
  if (declared === undefined) {
    const other = { 400: 422, 422: 400 }[status];
    const hasOther = other !== undefined && declaredFor(operation, other) !== undefined;
    if (isStrict || hasOther) checkStatus(operation, status);
    return;
  }
  checkHeaders(checked, declared, response);
  if (operation.method === 'head') return;
  const media = checkMediaType(declared, response);
  if (media !== undefined) await checkBody(checked, media, response);
}

/** Returns true if the document says that what a request refers to may not exist. */
export const isNotFoundDeclared = ({ responses }: Pick<Operation, 'responses'>): boolean =>
  responses.some(({ key }) => key === '404' || key === '410');

function checkStatus({ responses }: Operation, status: number): void {
  const keys = responses.map(({ key }) => key).join(', ');
  const message = `the status ${status} is not declared (${keys})`;
  const advice = status === 429 ? `: ${RAISE_LIMIT}` : '';
  throw new CheckError('each status is declared', message + advice);
}

/** The advice for the status 429. */
export const RAISE_LIMIT =
  'raise the rate limit in tests, for example with `testService({ variables: { … } })`';

const headersSchemaOf = onFirstUse((declared: DeclaredResponse) =>
  objectOf([{ name: 'headers', required: true, schema: objectOf(declared.headers) }]),
);

function checkHeaders(
  { schemas }: CheckedOperation,
  declared: DeclaredResponse,
  { status, headers }: ReceivedResponse,
): void {
  const fail = (reason: string) => {
    const message = `the response ${status} has headers that violate their schemas: ${reason}`;
    throw new CheckError('the headers are valid', message);
  };
  const values = declared.headers.flatMap((header) => {
    const { name } = header;
    const text = Object.hasOwn(headers, name) ? headers[name] : undefined;
    try {
      return text === undefined ? [] : [[name, readParameter(header, text)]];
    } catch (error) {
      return fail(`/headers/${name} cannot be read: ${Object(error).message}`);
    }
  });
  const received = { headers: Object.fromEntries(values) };
  const { violations } = schemas.at(headersSchemaOf(declared), 'received').check(received);
  if (violations !== undefined) fail(describeViolations(violations));
}

/**
 * Returns the declared media type of a response. Returns `undefined` if it has no body and none is
 * declared.
 *
 * @throws {CheckError}
 */
function checkMediaType(
  { media }: DeclaredResponse,
  { status, headers, body }: ReceivedResponse,
): MediaType | undefined {
  if (media.length === 0 && body.length > 0) throw bodyError(status, 'the body', 'is not declared');
  if (media.length === 0) return undefined;
  const type = headers['content-type'];
  const declared = type === undefined ? undefined : mediaTypeFor(media, type);
  if (declared !== undefined) return declared;
  const types = media.map((item) => item.type).join(', ');
  const message =
    type === undefined
      ? `the response ${status} has no Content-Type (${types})`
      : `the media type ${type} of the response ${status} is not declared (${types})`;
  throw new CheckError('the media type is declared', message);
}

const bodyError = (status: number, part: string, reason: string) =>
  new CheckError('the body is valid', `${part} of the response ${status} ${reason}`);

async function checkBody(
  { schemas, codecs }: CheckedOperation,
  media: MediaType,
  { status, headers, body, isCut }: ReceivedResponse,
): Promise<void> {
  const contentType = headers['content-type'] ?? '';
  const coder = codecs.of(media, contentType);
  const { schema } = (coder.unit === 'items' ? media.items : undefined) ?? media;
  const check = (part: string, value: unknown) => {
    const { violations } = schemas.at(schema ?? true, 'received').check(value);
    if (violations === undefined) return;
    const excerpt = excerptOf(value, 500);
    const described = violations.map(({ path, message }) => `/body${path} ${message}`).join('; ');
    throw bodyError(status, part, `violates its schema: ${described} in ${excerpt}`);
  };
  let part = 'the body';
  try {
    if (coder.unit === 'items') {
      let index = 0;
      part = 'item 0';
      const message = { format: media, contentType };
      for await (const item of coder.read(Readable.from([body]), message, Infinity)) {
        if (!(item instanceof Uint8Array)) check(part, item);
        index += 1;
        part = `item ${index}`;
      }
    } else if (schema !== undefined && coder.unit === 'value') {
      const value = readAtOnce(coder, body, media);
      if (value === undefined) throw bodyError(status, part, 'is missing');
      check(part, value);
    }
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error;
    if (!isCut) throw bodyError(status, part, error.requirement);
  }
}

export function parsedBody({ body }: ReceivedResponse): unknown {
  try {
    return parseJson(body.toString());
  } catch {
    return undefined;
  }
}

/** Returns the media type of a response. `undefined` if it is not declared. */
export function mediaOf(
  { operation }: Pick<CheckedOperation, 'operation'>,
  { status, headers }: ReceivedResponse,
): MediaType | undefined {
  const declared = declaredFor(operation, status);
  return declared && mediaTypeFor(declared.media, headers['content-type'] ?? '');
}

/** A resource in a body, and its form. */
export interface Content {
  readonly value: unknown;
  readonly outline: Outline | undefined;
}

/** Returns the resource of a response: the body, or the object in it, as in `{ "data": { … } }`. */
export function resourceOf(
  checked: Pick<CheckedOperation, 'operation'>,
  response: ReceivedResponse,
): Content {
  const value = parsedBody(response);
  const outline = mediaOf(checked, response)?.outline;
  const name = outline && wrapperOf(outline, checked.operation);
  return name === undefined
    ? { value, outline }
    : { value: asObject(value)[name], outline: outline?.member(name) };
}

/** Returns the form of the resource in the responses with a status. */
export function resourceOutlineOf(operation: Operation, status: number): Outline | undefined {
  const outline = declaredFor(operation, status)?.media[0]?.outline;
  const name = outline && wrapperOf(outline, operation);
  return name === undefined ? outline : outline?.member(name);
}

/** Returns the name of the member that contains the resource: the only one, `data`, or `task`. */
function wrapperOf(outline: Outline, { path }: Operation): string | undefined {
  const names = [...outline.names];
  const objects = names.filter((name) => outline.member(name).form === 'object');
  if (names.length === 1) return objects[0];
  if (names.includes('id')) return undefined;
  const kinds = new Set(path.split('/').map((segment) => singularOf(segment)));
  return objects.find((name) => name === 'data' || kinds.has(normalizedName(name)));
}
