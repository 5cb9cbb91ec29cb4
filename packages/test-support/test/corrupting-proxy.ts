import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { makeCertificate } from './certificate.ts';

/** A proxy in front of a PostgreSQL server. It changes messages of the server. */
export interface CorruptingProxy {
  readonly port: number;
  /** The type of the messages to change. */
  type: string | undefined;
  /** Changes a message, including its type and length. */
  mutate: (message: Buffer) => Buffer;
  /** The number of changed messages. */
  count: number;
  close(): void;
}

/** Starts a proxy on 127.0.0.1. With TLS, clients must request it. */
export async function startCorruptingProxy(
  serverPort: number,
  mutate: (message: Buffer) => Buffer,
  { tls = false } = {},
): Promise<CorruptingProxy> {
  const certificate = tls ? makeCertificate('127.0.0.1') : undefined;
  const listener = createServer((near) => {
    near.on('error', () => {});
    if (!certificate) return forward(near);
    // The client requests TLS with eight bytes, and starts it after the response S.
    near.once('data', () => {
      near.write('S');
      forward(new TLSSocket(near, { isServer: true, ...certificate }));
    });
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');

  function forward(near: Socket): void {
    const far = connect(serverPort, '127.0.0.1');
    let rest: Buffer = Buffer.alloc(0);
    far.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length > 4 && rest.length > rest.readUInt32BE(1)) {
        const message = rest.subarray(0, 1 + rest.readUInt32BE(1));
        rest = rest.subarray(message.length);
        near.write(change(message));
      }
    });
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
    near.on('data', (chunk) => far.write(chunk));
  }

  function change(message: Buffer): Buffer {
    if (message.toString('latin1', 0, 1) !== proxy.type) return message;
    proxy.count += 1;
    return proxy.mutate(message);
  }

  const proxy: CorruptingProxy = {
    port: (listener.address() as AddressInfo).port,
    type: undefined,
    mutate,
    count: 0,
    close: () => listener.close(),
  };
  return proxy;
}
