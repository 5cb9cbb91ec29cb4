import {
  coerce,
  type DeclaredResponse,
  declaredFor,
  mediaTypeFor,
  parseJson,
  readParameter,
  stringifyJson,
} from 'openapi-document';
import type { Answer, Context } from './values.ts';

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
export function checkAnswer(context: Context, answer: Answer, strict: boolean): void {
  const { responses } = context.operation;
  const declared = declaredFor(context.operation, answer.status);
  if (declared === undefined) {
    if (!strict || responses.length === 0) return;
    const keys = responses.map(({ key }) => key).join(', ');
    throw new Fault('each status is declared', `the status ${answer.status} is not declared (${keys})`, answer);
  }
  checkHeaders(context, declared, answer);
  checkBody(context, declared, answer);
}

function checkHeaders({ root, checks }: Context, { headers }: DeclaredResponse, answer: Answer): void {
  for (const header of headers) {
    const { name, required, schema } = header;
    const text = answer.headers[name];
    const fault = (message: string) => new Fault('the headers are as declared', message, answer);
    if (text === undefined) {
      if (required) throw fault(`the header ${name} is missing from the answer ${answer.status}`);
      continue;
    }
    const value = readParameter(root, header, text);
    const wrong = checks(schema, 'response')(value);
    if (wrong !== undefined) {
      throw fault(`the header ${name} of the answer ${answer.status} does not fit its schema: ${text} ${wrong}`);
    }
  }
}

function checkBody({ root, operation, checks }: Context, { media }: DeclaredResponse, answer: Answer): void {
  const { status, headers, body } = answer;
  if (operation.method === 'head' || status === 204 || status === 205 || status === 304) return;
  const type = headers['content-type'];
  const inType = (message: string) => new Fault('the media type is declared', message, answer);
  const inBody = (message: string) => new Fault('the body fits its schema', message, answer);
  if (media.length === 0) {
    if (body.length > 0) throw inBody(`the answer ${status} has a body, but none is declared`);
    return;
  }
  const types = media.map((item) => item.type).join(', ');
  if (type === undefined) throw inType(`the answer ${status} has no media type, but must have one of: ${types}`);
  const declared = mediaTypeFor(media, type);
  if (declared === undefined) throw inType(`the media type ${type} of the answer ${status} is none of: ${types}`);
  if (declared.items !== undefined) {
    const { items = [], unreadable } = answer;
    const check = checks(declared.items.schema, 'response');
    for (const [index, item] of items.entries()) {
      const wrong = item instanceof Uint8Array ? undefined : check(item);
      if (wrong === undefined) continue;
      throw inBody(`item ${index} of the answer ${status} does not fit its schema: ${wrong} in ${shown(item)}`);
    }
    if (unreadable !== undefined) throw inBody(`item ${items.length} of the answer ${status} ${unreadable}`);
    return;
  }
  if (declared.schema === undefined || !['json', 'text'].includes(declared.kind)) return;
  const value = declared.kind === 'json' ? bodyOf(answer) : coerce(root, [declared.schema], body.toString());
  if (value === undefined) throw inBody(`the body of the answer ${status} is not JSON`);
  const wrong = checks(declared.schema, 'response')(value);
  if (wrong !== undefined) {
    throw inBody(`the body of the answer ${status} does not fit its schema: ${wrong} in ${shown(value)}`);
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

/** A value as a message shows it. */
const shown = (value: unknown): string => stringifyJson(value)?.slice(0, 500) ?? 'nothing';
