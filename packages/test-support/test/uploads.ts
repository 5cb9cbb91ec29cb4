import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';

/** A request of a client with a pool of connections. */
export interface PooledRequest {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/**
 * Sends requests one after the other on each of four connections, and uses a connection again
 * unless its last response forbids it.
 *
 * @returns the number of responses by status, and of errors by code.
 */
export async function sendPooled(
  port: number,
  requests: Iterable<PooledRequest>,
): Promise<Record<string, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const counts: Record<string, number> = {};
  const queue = requests[Symbol.iterator]();
  const send = async () => {
    for (const next of { [Symbol.iterator]: () => queue }) {
      const outcome = await outcomeOf(port, next, agent);
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
  };
  await Promise.all([send(), send(), send(), send()]);
  agent.destroy();
  return counts;
}

async function outcomeOf(
  port: number,
  { path, headers, body }: PooledRequest,
  agent: Agent,
): Promise<string> {
  const length = { 'Content-Length': Buffer.byteLength(body) };
  const options = { port, host: '127.0.0.1', agent, path, method: 'POST' };
  const sent = request({ ...options, headers: { ...headers, ...length } });
  sent.end(body);
  try {
    const [response] = await once(sent, 'response');
    await once(response.resume(), 'end');
    return String(response.statusCode);
  } catch (error) {
    return String(Object(error).code);
  }
}

/**
 * Sends a head and a body of many bytes, and reads the response only after the last byte is sent.
 *
 * @returns the bytes of the response; the code of the error if there is none.
 */
export async function writeThenRead(port: number, head: string, size: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).pause();
  try {
    await once(socket, 'connect');
    socket.write(head);
    const piece = Buffer.alloc(65_536, ' ');
    for (let sent = 0; sent < size; sent += piece.length) {
      if (!socket.write(piece.subarray(0, size - sent))) await once(socket, 'drain');
    }
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk);
    return String(Buffer.concat(chunks));
  } catch (error) {
    return String(Object(error).code);
  } finally {
    socket.destroy();
  }
}
