import { connect, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ClientBase } from 'pg';
import { makeCertificate } from 'test-support/certificate';
import { eventually } from 'test-support/eventually';
import { randomValues } from 'test-support/random-values';
import { openDatabase, Unavailable } from '../../src/postgres/database.ts';
import { listen, opened, optionsFor, server, useServer } from './support.ts';

useServer();

/** Changes a message of the server, including its type and length. */
type Mutation = (message: Buffer) => Buffer;

interface Plan {
  /** The type of the message to change. */
  type?: string;
  mutate: Mutation;
  /** The number of changed messages. */
  count: number;
}

const certificate = makeCertificate('127.0.0.1');

/** Starts a proxy that changes messages of the server as planned, in plain text or in TLS. */
async function startProxy(plan: Plan, withTls = false): Promise<number> {
  const listener = createServer((near) => {
    near.on('error', () => {});
    if (!withTls) return forward(near, plan);
    near.once('data', () => {
      near.write('S');
      forward(new TLSSocket(near, { isServer: true, ...certificate }), plan);
    });
  });
  opened.push({ close: () => listener.close() });
  return listen(listener);
}

function forward(near: Socket, plan: Plan): void {
  const far = connect(server.port, '127.0.0.1');
  let rest: Buffer = Buffer.alloc(0);
  far.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length > 4 && rest.length > rest.readUInt32BE(1)) {
      const message = rest.subarray(0, 1 + rest.readUInt32BE(1));
      rest = rest.subarray(message.length);
      const isPlanned = message.toString('latin1', 0, 1) === plan.type;
      if (isPlanned) plan.count += 1;
      near.write(isPlanned ? plan.mutate(message) : message);
    }
  });
  near.on('error', () => far.destroy()).on('close', () => far.destroy());
  far.on('error', () => near.destroy()).on('close', () => near.destroy());
  near.on('data', (chunk) => far.write(chunk));
}

/** Removes the last byte of the content. Adds one if there is none. */
function cutOff(message: Buffer): Buffer {
  const changed =
    message.length > 5 ? message.subarray(0, -1) : Buffer.concat([message, Buffer.of(0)]);
  changed.writeUInt32BE(changed.length - 1, 1);
  return changed;
}

async function openThrough(port: number, url: string, tls = 'disable') {
  const limits = `sslmode=${tls}&statement_timeout=400&connect_timeout=1&max=1`;
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
    const plan: Plan = { mutate: cutOff, count: 0 };
    const database = await openThrough(await startProxy(plan), await server.createSchema());
    await database.run(converse);
    // The server only sends these messages when a session starts.
    if ('RSK'.includes(type)) {
      await server.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'notes'",
      );
    }
    plan.type = type;
    const errors: unknown[] = [];
    for (const call of [() => database.add('a'), () => database.run(converse)]) {
      await Promise.all([1, 2].map(() => call().catch((error: unknown) => errors.push(error))));
    }
    expect(plan.count).toBeGreaterThan(0);
    expect(errors).not.toEqual([]);
    for (const error of errors) expect(error).toBeInstanceOf(Unavailable);
    plan.type = undefined;
    await eventually(() => database.add('c'));
    await database.run(converse);
  },
);

test('a malformed message in TLS makes calls Unavailable, and the connection is replaced', async () => {
  const plan: Plan = { mutate: cutOff, count: 0 };
  const port = await startProxy(plan, true);
  const database = await openThrough(port, await server.createSchema(), 'require');
  await database.add('a');
  plan.type = 'C';
  await expect(database.add('b')).rejects.toBeInstanceOf(Unavailable);
  plan.type = undefined;
  await eventually(() => database.add('c'));
});

test('no bytes end the process', async () => {
  const plan: Plan = { mutate: (message) => message, count: 0 };
  const database = await openThrough(await startProxy(plan), await server.createSchema());
  const types = fc.constantFrom(...'RSKZ12TDCENAI');
  await fc.assert(
    fc.asyncProperty(types, fc.uint8Array({ minLength: 1, maxLength: 40 }), async (type, bytes) => {
      plan.type = type;
      plan.mutate = () => Buffer.from(bytes);
      await Promise.allSettled([database.add('a'), database.run(converse)]);
      plan.type = undefined;
      await eventually(() => database.add('b'));
    }),
    randomValues(10),
  );
});
