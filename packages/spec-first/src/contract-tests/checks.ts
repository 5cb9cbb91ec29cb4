import { Readable } from 'node:stream';
import {
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

/** An operation, its document and its validator. */
export interface Checked {
  readonly root: Json;
  readonly operation: Operation;
  readonly validator: OperationValidator;
}

/** An answer that breaks the document. `check` is what is checked, as a fact about services that keep to it. */
export class Fault extends Error {
  readonly check: string;

  constructor(check: string, message: string) {
    super(message);
    this.check = check;
  }
}

/**
 * Checks an answer against the document.
 *
 * @param strict whether the status must be declared. Errors that HTTP itself brings, such as 401, often are not.
 * @throws {Fault}
 */
export async function checkAnswer({ operation, validator }: Checked, answer: Answer, strict: boolean): Promise<void> {
  const { status, headers, body } = answer;
  const declared = declaredFor(operation, status);
  if (declared === undefined) {
    if (!strict || operation.responses.length === 0) return;
    const keys = operation.responses.map(({ key }) => key).join(', ');
    throw new Fault('each status is declared', `the status ${status} is not declared (${keys})`);
  }
  const read = declared.headers.flatMap((header) => {
    const text = headers[header.name];
    return text === undefined ? [] : [[header.name, header.read(text)]];
  });
  const wrong = mismatch(() => validator.responseHeaders(declared, Object.fromEntries(read)));
  if (wrong !== undefined) {
    const message = `the answer ${status} has headers that do not fit their schemas: ${wrong}`;
    throw new Fault('the headers are as declared', message);
  }
  const { media } = declared;
  if (operation.method === 'head' || [204, 205, 304].includes(status)) return;
  if (media.length === 0 && body.length > 0) throw wrongBody(status, 'the body', 'is not declared');
  if (media.length === 0) return;
  const type = headers['content-type'];
  const found = type === undefined ? undefined : mediaTypeFor(media, type);
  if (found !== undefined) return checkBody(validator, found, answer);
  const types = media.map((item) => item.type).join(', ');
  const message = `the media type ${type} of the answer ${status} is none of: ${types}`;
  throw new Fault('the media type is declared', message);
}

const wrongBody = (status: number, part: string, what: string) =>
  new Fault('the body fits its schema', `${part} of the answer ${status} ${what}`);

/** @throws {Fault} */
async function checkBody(validator: OperationValidator, media: MediaType, answer: Answer): Promise<void> {
  const { status, headers, body, isCut } = answer;
  const check = (part: string, value: unknown) => {
    const wrong = mismatch(() => validator.response(media, value));
    if (wrong === undefined) return;
    throw wrongBody(status, part, `does not fit its schema: ${wrong} in ${stringifyJson(value)?.slice(0, 500)}`);
  };
  if (media.items !== undefined) {
    let index = 0;
    try {
      for await (const item of media.readItems(headers['content-type'] ?? '', Readable.from([body]), Infinity)) {
        if (!(item instanceof Uint8Array)) check(`item ${index}`, item);
        index += 1;
      }
    } catch (error) {
      if (!(error instanceof UnreadableItem)) throw error;
      if (!isCut) throw wrongBody(status, `item ${index}`, error.message);
    }
  } else if (media.schema !== undefined && media.kind === 'json') {
    const value = bodyOf(answer);
    if (value === undefined) throw wrongBody(status, 'the body', 'is not JSON');
    check('the body', value);
  } else if (media.schema !== undefined && media.kind === 'text') {
    check('the body', media.coerce(body.toString()));
  }
}

/** The JSON value of an answer; `undefined` if it is not JSON. */
export function bodyOf({ body }: Answer): unknown {
  try {
    return parseJson(body.toString());
  } catch {
    return undefined;
  }
}
