import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

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
