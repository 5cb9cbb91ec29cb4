import { once } from 'node:events';
import { connect, isIP, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { Client, type ClientConfig } from 'pg';

/** The first message that asks for TLS, https://www.postgresql.org/docs/current/protocol-message-formats.html. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/** Length and code of a CancelRequest. */
const CANCEL_REQUEST = [0, 0, 0, 16, 0x04, 0xd2, 0x16, 0x2e];

/** How long a connection that ends waits for the server, in milliseconds. */
const GOODBYE_MS = 1_000;

/** A client of pg, with what pg offers no public interface for. */
export interface OwnClient {
  readonly client: Client;
  /** Resolves when the server has been asked to cancel what the client does. */
  cancel(): Promise<void>;
  /** Ends the connection, in order if the server answers. */
  end(): Promise<void>;
}

/**
 * Makes a client that is not connected yet.
 *
 * It relies on the event `backendKeyData` of `client.connection`, with `processID` and `secretKey`, which is not documented: this
 * is why the version of pg is exact.
 */
export function createClient(config: ClientConfig & { readonly host: string }): OwnClient {
  const socket = new Socket();
  const client = new Client({ ...config, stream: () => socket });
  let key: Buffer | undefined;
  client.on('error', () => {});
  client.connection.once('backendKeyData', ({ processID, secretKey }) => {
    key = Buffer.from([...CANCEL_REQUEST, ...new Uint8Array(8)]);
    key.writeInt32BE(processID, 8);
    key.writeInt32BE(secretKey, 12);
  });

  return {
    client,
    async cancel() {
      if (key === undefined) return;
      const { host, port = 5432, ssl } = config;
      const plain = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
      const late = setTimeout(() => plain.destroy(new Error('timeout')), config.connectionTimeoutMillis).unref();
      // A request that is not answered does not keep the process from ending.
      plain.unref();
      try {
        let channel: Socket = plain;
        if (ssl) {
          plain.write(SSL_REQUEST);
          const [answer] = await once(plain, 'data');
          if (String(answer) !== 'S') throw new Error('The server does not support SSL connections');
          channel = connectTls({ socket: plain, host, servername: isIP(host) ? '' : host, ...Object(ssl) });
        }
        // The server closes the connection when it has passed the request on.
        const closed = once(channel, 'close');
        channel.resume().end(key);
        await closed;
      } finally {
        clearTimeout(late);
        plain.destroy();
      }
    },
    async end() {
      await Promise.race([client.end(), delay(GOODBYE_MS, undefined, { ref: false })]);
      socket.destroy();
    },
  };
}
