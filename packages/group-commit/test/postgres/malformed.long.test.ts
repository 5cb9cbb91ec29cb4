import { expect, test } from '@jest/globals';
import type { ClientBase } from 'pg';
import { startCorruptingProxy } from 'test-support/corrupting-proxy';
import { eventually } from 'test-support/eventually';
import { openDatabase, Unavailable } from '../../src/postgres/database.ts';
import { opened, optionsFor, server, useServer } from './support.ts';

useServer();

/** Removes the last byte of the content. Adds one if there is none. */
function cutOff(message: Buffer): Buffer {
  const changed =
    message.length > 5 ? message.subarray(0, -1) : Buffer.concat([message, Buffer.of(0)]);
  changed.writeUInt32BE(changed.length - 1, 1);
  return changed;
}

async function startProxy(options = {}) {
  const proxy = await startCorruptingProxy(server.port, cutOff, options);
  opened.push(proxy);
  return proxy;
}

async function openThrough(port: number, url: string, tls = 'disable') {
  const limits = `sslmode=${tls}&statement_timeout=5000&connect_timeout=5&max=1`;
  const database = await openDatabase<string>({
    ...optionsFor(`${url.replace(String(server.port), String(port))}&${limits}`),
    async insert(client, texts) {
      await client.query('INSERT INTO notes (text) SELECT unnest($1::text[]) RETURNING id', [
        texts,
      ]);
    },
  });
  opened.push(database);
  return database;
}

/** Makes the server send a notice, a notification, rows, an error and an empty response. */
async function converse(client: ClientBase): Promise<void> {
  await client.query("DO $$ BEGIN RAISE WARNING 'a warning'; END $$; LISTEN news; NOTIFY news");
  await client.query('SELECT 1 AS a, NULL AS b, $1::text AS c', ['text']);
  await client.query('SELECT nothing').catch(() => {});
  await client.query('');
  await client.query('SELECT 1');
}

test.each([
  ['R', 'Authentication'],
  ['S', 'ParameterStatus'],
  ['K', 'BackendKeyData'],
  ['Z', 'ReadyForQuery'],
  ['1', 'ParseComplete'],
  ['2', 'BindComplete'],
  ['T', 'RowDescription'],
  ['D', 'DataRow'],
  ['C', 'CommandComplete'],
  ['E', 'ErrorResponse'],
  ['N', 'NoticeResponse'],
  ['A', 'NotificationResponse'],
  ['I', 'EmptyQueryResponse'],
])(
  'a malformed message %s (%s) makes calls Unavailable, and the connection is replaced',
  async (type) => {
    const proxy = await startProxy();
    const database = await openThrough(proxy.port, await server.createSchema());
    await database.run(converse);
    // The server only sends these messages when a session starts.
    if ('RSK'.includes(type)) {
      await server.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'notes'",
      );
    }
    proxy.type = type;
    const errors: unknown[] = [];
    for (const call of [() => database.add('a'), () => database.run(converse)]) {
      await Promise.all([1, 2].map(() => call().catch((error: unknown) => errors.push(error))));
    }
    expect(proxy.count).toBeGreaterThan(0);
    expect(errors).not.toEqual([]);
    for (const error of errors) expect(error).toBeInstanceOf(Unavailable);
    proxy.type = undefined;
    await eventually(() => database.add('c'));
    await database.run(converse);
  },
);

test('a malformed message in TLS makes calls Unavailable, and the connection is replaced', async () => {
  const proxy = await startProxy({ tls: true });
  const database = await openThrough(proxy.port, await server.createSchema(), 'require');
  await database.add('a');
  proxy.type = 'C';
  await expect(database.add('b')).rejects.toBeInstanceOf(Unavailable);
  proxy.type = undefined;
  await eventually(() => database.add('c'));
});
