import type { Duplex } from 'node:stream';

/** The size of the type and the length of a message. */
const HEADER = 5;

/** The maximum length of a message. PostgreSQL cannot send more. */
const MAX_LENGTH = 2 ** 30;

type Body = Buffer;

/** Returns the end of a string that ends with a zero byte. */
function text(body: Body, at: number): number {
  const end = body.indexOf(0, at);
  if (end === -1) throw new RangeError('a string has no end');
  return end + 1;
}

/** Returns the end of a list that starts with the number of its items. */
function list(body: Body, at: number, item: (at: number) => number): number {
  let end = at + 2;
  for (let count = body.readInt16BE(at); count > 0; count -= 1) end = item(end);
  return end;
}

/** Returns the end of the fields of an error or a notice. */
function fields(body: Body): number {
  let at = 0;
  while (body[at]) at = text(body, at + 1);
  return at + 1;
}

const empty = (): number => 0;
const copyFormats = (body: Body): number => list(body, 1, (at) => at + 2);

/**
 * The end of the content of each message, by its type,
 * https://www.postgresql.org/docs/current/protocol-message-formats.html.
 */
const ENDS: Readonly<Record<string, (body: Body) => number>> = {
  '1': empty, // ParseComplete
  '2': empty, // BindComplete
  '3': empty, // CloseComplete
  A: (body) => text(body, text(body, 4)), // NotificationResponse
  C: (body) => text(body, 0), // CommandComplete
  D: (body) => list(body, 0, (at) => at + 4 + Math.max(0, body.readInt32BE(at))), // DataRow
  E: fields, // ErrorResponse
  G: copyFormats, // CopyInResponse
  H: copyFormats, // CopyOutResponse
  I: empty, // EmptyQueryResponse
  K: ({ length }) => Math.max(length, 8), // BackendKeyData
  N: fields, // NoticeResponse
  R: ({ length }) => Math.max(length, 4), // Authentication
  S: (body) => text(body, text(body, 0)), // ParameterStatus
  T: (body) => list(body, 0, (at) => text(body, at) + 18), // RowDescription
  Z: () => 1, // ReadyForQuery
  c: empty, // CopyDone
  d: ({ length }) => length, // CopyData
  n: empty, // NoData
  s: empty, // PortalSuspended
  t: (body) => list(body, 0, (at) => at + 4), // ParameterDescription
};

/** @throws {RangeError} if the content of a message is shorter or longer than its length. */
function checkMessage(type: string, body: Body): void {
  if (ENDS[type]?.(body) !== body.length) throw new RangeError(`its type is ${type}`);
}

/** Returns a function that takes bytes, and returns the messages that are complete. */
export function createFramer(): (chunk: Buffer) => Buffer {
  let parts: Buffer[] = [];
  let size = 0;
  let wantedSize = HEADER;

  return (chunk) => {
    parts.push(chunk);
    size += chunk.length;
    if (size < wantedSize) return Buffer.alloc(0);

    let rest = Buffer.concat(parts);
    const messages = rest;
    wantedSize = HEADER;
    while (rest.length >= HEADER) {
      const length = rest.readUInt32BE(1);
      if (length < 4 || length > MAX_LENGTH) throw new RangeError(`its length is ${length}`);
      wantedSize = 1 + length;
      if (rest.length < wantedSize) break;
      checkMessage(rest.toString('latin1', 0, 1), rest.subarray(HEADER, wantedSize));
      rest = rest.subarray(wantedSize);
      wantedSize = HEADER;
    }
    parts = [rest];
    size = rest.length;
    return messages.subarray(0, messages.length - size);
  };
}

/**
 * Destroys a stream of the server at its first malformed message. pg would read beyond its end, not
 * return, or throw in the listener, which ends the process.
 */
export function guardMessages(stream: Duplex): void {
  const takeMessages = createFramer();
  const { emit } = stream;

  stream.emit = (event: string | symbol, ...args: unknown[]): boolean => {
    const [chunk] = args;
    if (event !== 'data' || !Buffer.isBuffer(chunk)) return emit.call(stream, event, ...args);
    try {
      return emit.call(stream, event, takeMessages(chunk));
    } catch (cause) {
      const error = new Error(`the server sent a malformed message: ${Object(cause).message}`, {
        cause,
      });
      stream.destroy(Object.assign(error, { code: '08P01' }));
      return true;
    }
  };
}
