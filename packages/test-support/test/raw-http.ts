import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawResponse {
  readonly status: number;
  /** By name in lower case. Repeated headers are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Exchange {
  /** Every complete response, interim ones (1xx) included. */
  readonly responses: readonly RawResponse[];
  /** The bytes after the last complete response: a cut response, or text that is not HTTP. */
  readonly rest: string;
  /** True if the server closed the connection first, false if the client did. */
  readonly closed: boolean;
}

export interface ExchangeOptions {
  /** The number of final responses (not 1xx) after which the client disconnects. By default one. */
  readonly responses?: number;
  /** The time in milliseconds after which the client disconnects. By default 120 s. */
  readonly wait?: number;
  /** Closes the client's side after the last byte. */
  readonly end?: boolean;
  /** The request is a HEAD, so that its response has no body. */
  readonly head?: boolean;
}

/**
 * Sends bytes on a new connection to 127.0.0.1. Reads responses until the server closes the
 * connection, enough responses have arrived, or the timeout expires.
 */
export async function exchange(
  port: number,
  bytes: string | Uint8Array,
  { responses: enough = 1, wait = 120_000, end = false, head = false }: ExchangeOptions = {},
): Promise<Exchange> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  const over = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => over.resolve(false), wait);
  socket.on('error', () => undefined);
  socket.on('close', () => over.resolve(true));
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    const { responses } = parseResponses(Buffer.concat(chunks), head);
    if (responses.filter(({ status }) => status >= 200).length >= enough) over.resolve(false);
  });
  // A character of a string is one byte.
  const buffer = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
  if (end) socket.end(buffer);
  else socket.write(buffer);
  const closed = await over.promise;
  clearTimeout(timer);
  socket.destroy();
  return { ...parseResponses(Buffer.concat(chunks), head), closed };
}

/** Resolves to a connected socket that ignores errors. */
export async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  return socket;
}

/** Returns an HTTP/1.1 request, with a `Content-Length` if there is a body. */
export function request(
  line: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): string {
  const bytes = Buffer.from(body);
  const fields = {
    Host: 'localhost',
    ...(bytes.length > 0 && { 'Content-Length': String(bytes.length) }),
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n${bytes.toString('latin1')}`;
}

/** Parses the bytes that a server sent (RFC 9112 §6). */
export function parseResponses(
  bytes: Buffer,
  head = false,
): { responses: RawResponse[]; rest: string } {
  const responses: RawResponse[] = [];
  let at = 0;
  for (;;) {
    const end = bytes.indexOf('\r\n\r\n', at);
    if (end < 0) break;
    const [line = '', ...fields] = bytes.toString('latin1', at, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) ./.exec(line)?.[1]);
    if (Number.isNaN(status)) break;
    const headers: Record<string, string> = {};
    for (const field of fields) {
      const colon = field.indexOf(':');
      const name = field.slice(0, colon).toLowerCase();
      const value = field.slice(colon + 1).trim();
      headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
    }
    const framed = bodyAt(bytes, end + 4, status, headers, head);
    if (framed === undefined) break;
    responses.push({ status, headers, body: framed.body });
    at = framed.end;
  }
  return { responses, rest: bytes.toString('latin1', at) };
}

function bodyAt(
  bytes: Buffer,
  start: number,
  status: number,
  headers: Readonly<Record<string, string>>,
  head: boolean,
): { body: Buffer; end: number } | undefined {
  if (status < 200 || status === 204 || status === 304 || head)
    return { body: Buffer.alloc(0), end: start };
  if (headers['transfer-encoding'] === 'chunked') return chunksAt(bytes, start);
  const length = Number(headers['content-length'] ?? bytes.length - start);
  return start + length > bytes.length
    ? undefined
    : { body: bytes.subarray(start, start + length), end: start + length };
}

function chunksAt(bytes: Buffer, start: number): { body: Buffer; end: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = start; ; ) {
    const line = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    if (line < 0 || line + 2 + size + 2 > bytes.length) return undefined;
    chunks.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
    if (size === 0) return { body: Buffer.concat(chunks), end: at };
  }
}
