import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { Client } from 'pg';
import { type PostgresServer, startPostgres } from 'test-support/postgres';
import {
  openDatabase,
  type PostgresDatabase,
  type PostgresOptions,
} from '../../src/postgres/database.ts';

export const TABLE =
  "CREATE TABLE IF NOT EXISTS notes (id bigint GENERATED ALWAYS AS IDENTITY, text text CHECK (text <> ''))";

export let server: PostgresServer;

/** Databases, sessions and servers that are closed after each test. */
export const opened: { close(): unknown }[] = [];

export function useServer(): void {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
  });
}

export const optionsFor = (url: string): PostgresOptions<string> => ({
  url,
  name: 'notes',
  table: TABLE,
  async setUp(client) {
    await client.query(TABLE);
  },
  async insert(client, texts) {
    await client.query('INSERT INTO notes (text) SELECT unnest($1::text[])', [texts]);
  },
});

export async function open(
  url: string,
  options: Partial<PostgresOptions<string>> = {},
): Promise<PostgresDatabase<string>> {
  const database = await openDatabase({ ...optionsFor(url), ...options });
  opened.push(database);
  return database;
}

/** Opens a separate session, which can hold locks. */
export async function session(url: string): Promise<Client> {
  const client = await server.connect(url);
  opened.push({ close: () => client.end() });
  return client;
}

export async function listen(listener: Server): Promise<number> {
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP port');
  return address.port;
}

export interface Proxy {
  readonly port: number;
  /** Stops forwarding data on open connections, without closing them. */
  silence(): void;
  /** True to forward no data on new connections either. */
  silent: boolean;
  close(): void;
}

export async function proxy(): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const mute = new Set<Socket>();
  const listener = createServer((near) => {
    const far = connect(server.port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      if (state.silent) mute.add(from);
      from.on('data', (data) => {
        if (!mute.has(from)) to.write(data);
      });
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        if (!mute.has(from)) to.destroy();
      });
    }
  });
  const state = {
    port: await listen(listener),
    silent: false,
    silence() {
      for (const socket of sockets) mute.add(socket);
    },
    close() {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  opened.push(state);
  return state;
}
