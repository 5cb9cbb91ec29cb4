import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';

/** How long a connection that ends waits for the server, in milliseconds. */
const GOODBYE_MS = 1_000;

/** A client of pg, with what pg offers no public interface for. */
export interface OwnClient {
  readonly client: Client;
  /** Resolves when the server has been asked to cancel what the client does, or does not answer. */
  cancel(): Promise<void>;
  /** Ends the connection, in order if the server answers. */
  end(): Promise<void>;
}

/**
 * Makes a client that is not connected yet.
 *
 * It relies on `processID` and `secretKey` of a client, and on `startup` and `cancel` of its connection, which are not
 * documented: this is why the version of pg is exact.
 */
export function createClient(config: ClientConfig): OwnClient {
  const client = new Client(config);
  client.on('error', () => {});
  return {
    client,
    async cancel() {
      const { processID, secretKey } = Object(client);
      const other = new Client(config);
      const { connection } = other;
      other.on('error', () => {});
      // The first message over this connection cancels. The server says nothing, and closes it.
      Object.assign(connection, { startup: () => Object(connection).cancel(processID, secretKey) });
      await other.connect().catch(() => {});
    },
    async end() {
      await Promise.race([client.end(), delay(GOODBYE_MS, undefined, { ref: false })]);
      client.connection.stream.destroy();
    },
  };
}
