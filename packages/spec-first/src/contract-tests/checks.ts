import {
  type DeclaredResponse,
  declaredFor,
  type Json,
  type MediaType,
  mediaTypeFor,
  type Operation,
  parseJson,
  stringifyJson,
  UnreadableItem,
} from 'openapi-document';
import { createPathValidators, type OperationValidator, Violations } from 'spec-first-server/validation';
import type { Answer } from './client.ts';

/**
 * The validator of an operation, as the server has it. A member that goes the other way only is an error. No parameter is
 * required, so that each value of a request is checked alone.
 */
export function validatorOf(root: Json, operation: Operation): OperationValidator {
  const optional = operation.parameters.map((parameter) => ({ ...parameter, required: false }));
  const operations = [{ ...operation, parameters: optional }];
  const [validator] = createPathValidators(root, operations, { readOnly: 'reject', discriminator: 'selects' }).values();
  if (validator === undefined) throw new Error(`${operation.id} has no validator`);
  return validator;
}

/** What a check finds wrong with a value, if anything. */
export function mismatch(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof Violations) return error.message;
    throw error;
  }
}

/** An operation and its validator. */
export interface Checked {
  readonly operation: Operation;
  readonly validator: OperationValidator;
}

/** An answer that breaks the document. */
export class Fault extends Error {
  override readonly name = 'Fault';
  /** What is checked, as a fact about services that keep to the document. */
  readonly check: string;
  readonly answer: Answer | undefined;

  constructor(check: string, message: string, answer?: Answer) {
    super(message);
    this.check = check;
    this.answer = answer;
  }
}

/** Marks the answer of a mock. The mock of an operation that declares nothing but a 5xx answers with it. */
export const isMock = ({ headers }: Answer): boolean => headers['x-mock'] !== undefined;

/** Checks that a service did not fail. @throws {Fault} */
export function checkNoFailure(answer: Answer): void {
  if (answer.status < 500 || isMock(answer)) return;
  throw new Fault(
    'no request makes the service fail',
    `the status ${answer.status} is a failure of the service`,
    answer,
  );
}

/**
 * Checks an answer against the document.
 *
 * @param strict whether the status must be declared. Errors that HTTP itself brings, such as 401, often are not.
 * @throws {Fault}
 */
export async function checkAnswer(checked: Checked, answer: Answer, strict: boolean): Promise<void> {
  const { operation } = checked;
  const { status } = answer;
  const declared = declaredFor(operation, status);
  if (declared === undefined) {
    if (!strict || operation.responses.length === 0) return;
    const keys = operation.responses.map(({ key }) => key).join(', ');
    throw new Fault('each status is declared', `the status ${status} is not declared (${keys})`, answer);
  }
  checkHeaders(checked, declared, answer);
  const isEmpty = operation.method === 'head' || [204, 205, 304].includes(status);
  const wrong = isEmpty ? undefined : await mismatchOfBody(checked, declared, answer);
  if (wrong !== undefined)
    throw new Fault('the body fits its schema', `${wrong[0]} of the answer ${status} ${wrong[1]}`, answer);
}

function checkHeaders({ validator }: Checked, declared: DeclaredResponse, answer: Answer): void {
  const texts = declared.headers.flatMap((header) => {
    const text = answer.headers[header.name];
    return text === undefined ? [] : [[header.name, header.read(text)]];
  });
  const wrong = mismatch(() => validator.responseHeaders(declared, Object.fromEntries(texts)));
  if (wrong === undefined) return;
  const message = `the answer ${answer.status} has headers that do not fit their schemas: ${wrong}`;
  throw new Fault('the headers are as declared', message, answer);
}

/** What is wrong with a body, and with what part of it. @throws {Fault} for an undeclared media type */
async function mismatchOfBody(
  { validator }: Checked,
  { media }: DeclaredResponse,
  answer: Answer,
): Promise<[part: string, wrong: string] | undefined> {
  const { status, headers, body } = answer;
  if (media.length === 0) return body.length > 0 ? ['the body', 'is not declared'] : undefined;
  const type = headers['content-type'];
  const declared = type === undefined ? undefined : mediaTypeFor(media, type);
  if (declared === undefined) {
    const types = media.map((item) => item.type).join(', ');
    const message = `the media type ${type} of the answer ${status} is none of: ${types}`;
    throw new Fault('the media type is declared', message, answer);
  }
  const { schema, kind, items } = declared;
  const check = (part: string, value: unknown): [string, string] | undefined => {
    if (value === undefined) return [part, 'is not JSON'];
    const wrong = mismatch(() => validator.response(declared, value));
    return wrong === undefined
      ? undefined
      : [part, `does not fit its schema: ${wrong} in ${stringifyJson(value)?.slice(0, 500)}`];
  };
  if (items !== undefined) return mismatchOfItems(declared, answer, check);
  if (schema === undefined || !['json', 'text'].includes(kind)) return undefined;
  return check('the body', kind === 'json' ? bodyOf(answer) : declared.coerce(body.toString()));
}

async function mismatchOfItems(
  media: MediaType,
  { headers, body, isCut }: Answer,
  check: (part: string, value: unknown) => [string, string] | undefined,
): Promise<[string, string] | undefined> {
  const chunks = async function* () {
    yield body;
  };
  let index = 0;
  try {
    for await (const item of media.readItems(headers['content-type'] ?? '', chunks(), Infinity)) {
      const wrong = item instanceof Uint8Array ? undefined : check(`item ${index}`, item);
      if (wrong !== undefined) return wrong;
      index += 1;
    }
  } catch (error) {
    if (!(error instanceof UnreadableItem)) throw error;
    if (!isCut) return [`item ${index}`, error.message];
  }
  return undefined;
}

/** The JSON value of an answer; `undefined` if it is not JSON. */
export function bodyOf({ body }: Answer): unknown {
  try {
    return parseJson(body.toString());
  } catch {
    return undefined;
  }
}
