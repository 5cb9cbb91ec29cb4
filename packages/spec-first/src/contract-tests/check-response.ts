import { Readable } from 'node:stream';
import {
  type Codecs,
  type DeclaredResponse,
  declaredFor,
  type MediaType,
  mediaTypeFor,
  type Operation,
  parseJson,
  readAtOnce,
  readParameter,
  type Schemas,
  stringifyJson,
  UnreadableBody,
  type Violation,
} from 'openapi-document';
import {
  createValidators,
  type OperationValidator,
  Violations,
} from 'spec-first-server/validation';

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

interface ValueValidator extends OperationValidator {
  /**
   * Returns the body of a response without the members that its schema does not declare. In a
   * union, only the selected alternatives declare members. Returns `undefined` for an invalid body.
   */
  declaredPart(media: MediaType, body: unknown): unknown;
}

/**
 * Returns a function that makes a validator of an operation. It differs from the server's validator
 * in two points. It reads messages as a client sends and receives them. No parameter is required,
 * so that each value can be validated alone.
 */
export function validatorsFor(
  schemas: Schemas,
  codecs: Codecs,
): (operation: Operation) => ValueValidator {
  const validatorFor = createValidators(schemas, { codecs, forClient: true });
  const droppingValidatorFor = createValidators(schemas, { codecs });
  return (operation) => {
    const optional = operation.parameters.map((parameter) => ({ ...parameter, required: false }));
    return {
      ...validatorFor({ ...operation, parameters: optional }),
      declaredPart(media, body) {
        let part: unknown;
        violationsOf(() => {
          part = droppingValidatorFor(operation).response(media, body);
        });
        return part;
      },
    };
  };
}

/** Returns the violations that a check throws. */
export function violationsOf(check: () => unknown): readonly Violation[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof Violations) return error.violations;
    throw error;
  }
}

export const describeViolations = (violations: readonly Violation[]): string =>
  violations.map(({ path, message }) => `${path} ${message}`).join('; ');

export interface CheckedOperation {
  readonly schemas: Schemas;
  readonly operation: Operation;
  readonly validator: ValueValidator;
}

/** Thrown by a failed check. `check` is its name, such as `each status is declared`. */
export class CheckError extends Error {
  readonly check: string;

  constructor(check: string, message: string) {
    super(message);
    this.check = check;
  }
}

/**
 * Checks a response against the document.
 *
 * @param isStrict true if an undeclared status is an error. Documents often omit common statuses
 *   such as 401. It is always an error to answer 400 if only 422 is declared, and vice versa.
 * @throws {CheckError}
 */
export async function checkResponse(
  checked: CheckedOperation,
  response: ReceivedResponse,
  isStrict: boolean,
): Promise<void> {
  const { operation } = checked;
  const declared = declaredFor(operation, response.status);
  if (declared === undefined) {
    if (isStrict || declaresOtherRejection(operation, response)) checkStatus(operation, response);
    return;
  }
  checkHeaders(checked, declared, response);
  if (operation.method === 'head') return;
  const media = checkMediaType(declared, response);
  if (media !== undefined) await checkBody(checked, media, response);
}

const OTHER_REJECTIONS: Readonly<Record<number, number>> = { 400: 422, 422: 400 };

function declaresOtherRejection(operation: Operation, { status }: ReceivedResponse): boolean {
  const other = OTHER_REJECTIONS[status];
  return other !== undefined && declaredFor(operation, other) !== undefined;
}

function checkStatus({ responses }: Operation, { status }: ReceivedResponse): void {
  const keys = responses.map(({ key }) => key).join(', ');
  const message = `the status ${status} is not declared (${keys})`;
  const advice = status === 429 ? `: ${RAISE_LIMIT}` : '';
  throw new CheckError('each status is declared', message + advice);
}

/** The advice for the status 429. */
export const RAISE_LIMIT =
  'raise the rate limit in tests, for example with `testService({ variables: { … } })`';

function checkHeaders(
  { validator }: CheckedOperation,
  declared: DeclaredResponse,
  { status, headers }: ReceivedResponse,
): void {
  const values = declared.headers.flatMap((header) => {
    const text = Object.hasOwn(headers, header.name) ? headers[header.name] : undefined;
    return text === undefined ? [] : [[header.name, readParameter(header, text)]];
  });
  const violations = violationsOf(() =>
    validator.responseHeaders(declared, Object.fromEntries(values)),
  );
  if (violations.length === 0) return;
  const description = describeViolations(violations);
  const message = `the response ${status} has headers that violate their schemas: ${description}`;
  throw new CheckError('the headers are valid', message);
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
  { validator }: CheckedOperation,
  media: MediaType,
  response: ReceivedResponse,
): Promise<void> {
  const { status, headers, body, isCut } = response;
  const check = (part: string, value: unknown) => {
    const violations = violationsOf(() => validator.response(media, value));
    if (violations.length === 0) return;
    const excerpt = stringifyJson(value)?.slice(0, 500);
    const reason = `violates its schema: ${describeViolations(violations)} in ${excerpt}`;
    throw bodyError(status, part, reason);
  };
  const contentType = headers['content-type'] ?? '';
  const coder = validator.codecs.of(media, contentType);
  if (coder.unit === 'items') {
    let index = 0;
    try {
      const message = { format: media, contentType };
      for await (const item of coder.read(Readable.from([body]), message, Infinity)) {
        if (!(item instanceof Uint8Array)) check(`item ${index}`, item);
        index += 1;
      }
    } catch (error) {
      if (!(error instanceof UnreadableBody)) throw error;
      if (!isCut) throw bodyError(status, `item ${index}`, error.requirement);
    }
  } else if (media.schema !== undefined && coder.unit === 'value') {
    let value: unknown;
    try {
      value = readAtOnce(coder, body, media);
    } catch (error) {
      if (!(error instanceof UnreadableBody)) throw error;
      throw bodyError(status, 'the body', error.requirement);
    }
    if (value === undefined) throw bodyError(status, 'the body', 'is missing');
    check('the body', value);
  }
}

export function parsedBody({ body }: ReceivedResponse): unknown {
  try {
    return parseJson(body.toString());
  } catch {
    return undefined;
  }
}
