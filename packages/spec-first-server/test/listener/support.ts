import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach } from '@jest/globals';
import type { HttpFailure } from '../../src/http/failures.ts';
import { Resources } from '../../src/http/resources.ts';
import { Arrivals } from '../../src/listener/arrivals.ts';
import { ClientConnection, type ServerState } from '../../src/listener/connection.ts';
import { Lingering } from '../../src/listener/lingering.ts';
import { listen } from '../../src/listener/listen.ts';
import type { FailureResponse } from '../../src/listener/reject.ts';

type ListenOptions = Partial<Parameters<typeof listen>[1]>;

/** Listens on a free port of this machine. By default with resources of its own. */
export async function listenLocally(app: RequestListener, options: ListenOptions = {}) {
  const resources = new Resources();
  const defaults = { host: '127.0.0.1', port: 0, resources, respond: respondWithText };
  const listening = await listen(app, { ...defaults, ...options });
  return { ...listening, port: Number(new URL(listening.url).port) };
}

interface Parts {
  readonly method?: string;
  readonly url?: string;
  readonly httpVersion?: string;
  readonly rawHeaders?: readonly string[];
  readonly remoteAddress?: string;
  readonly socket?: Socket;
}

/** Creates a request as Node's server does after it has parsed a head, with its response. */
export function createRequest({
  rawHeaders = ['Host', 'a'],
  remoteAddress = '10.0.0.1',
  socket = new Socket(),
  ...parts
}: Parts = {}) {
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
  const request = new IncomingMessage(socket);
  Object.assign(request, { method: 'GET', url: '/', httpVersion: '1.1', ...parts });
  const headers: Record<string, string> = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    const value = rawHeaders[index + 1] ?? '';
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  Object.assign(request, { rawHeaders: [...rawHeaders], headers });
  return { request, response: new ServerResponse(request), socket };
}

/** Creates the state of a server without connections. */
export const createState = (): ServerState => ({
  arrivals: new Arrivals(),
  lingering: new Lingering({ lingerTimeout: 2_000, maxLinger: 4_000 }),
  resources: new Resources(),
  isDraining: false,
  portClosing: undefined,
  app() {},
  reject() {},
});

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/**
 * Creates a connection without a client. A test sets the numbers of its bytes.
 *
 * @param onBegin called when a request begins.
 */
export function createConnection(onBegin?: () => void) {
  const socket = new Socket();
  sockets.push(socket);
  const bytes = { bytesRead: 0, bytesWritten: 0, writableLength: 0 };
  for (const name of ['bytesRead', 'bytesWritten', 'writableLength'] as const) {
    Object.defineProperty(socket, name, { get: () => bytes[name] });
  }
  const begun: string[] = [];
  const state: ServerState = {
    ...createState(),
    app({ url }) {
      begun.push(String(url));
      onBegin?.();
    },
    reject(_connection, { req: { url } }, { status }) {
      begun.push(`${url}, ${status}`);
      onBegin?.();
    },
  };
  const connection = new ClientConnection(socket, state);

  /** Adds a request whose head ends at a position. */
  function add(url: string, bytesRead: number, rawHeaders: string[] = []): ServerResponse {
    const { request, response } = createRequest({ url, rawHeaders, socket });
    bytes.bytesRead = bytesRead;
    request.complete = rawHeaders.length === 0;
    connection.add(response);
    return response;
  }

  return { connection, socket, bytes, begun, add, state, ...state.resources };
}

export const close = (response: ServerResponse): boolean => response.emit('close');

function respondWithText(failure: HttpFailure): FailureResponse {
  const { message, headers = {} } = failure;
  const framing = {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(message)),
  };
  return {
    failure,
    headers: Object.entries({ ...framing, ...headers })
      .flat()
      .map(String),
    body: message,
  };
}
