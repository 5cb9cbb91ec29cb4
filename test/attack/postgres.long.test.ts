import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type CorruptingProxy, startCorruptingProxy } from 'test-support/corrupting-proxy';
import { eventually } from 'test-support/eventually';
import { type PostgresServer, startPostgres } from 'test-support/postgres';
import { randomValues } from 'test-support/random-values';
import { type ServiceProcess, start, TOKEN } from '../plants/support/plant-service.ts';
import { post } from '../support/launch.ts';

let server: PostgresServer;
let proxy: CorruptingProxy;
let service: ServiceProcess;

beforeAll(async () => {
  server = await startPostgres();
  proxy = await startCorruptingProxy(server.port, (message) => message);
  const url = (await server.createSchema()).replace(String(server.port), String(proxy.port));
  service = await start({
    DATABASE_URL: `${url}&sslmode=disable&statement_timeout=300&connect_timeout=1&max=2`,
  });
});

afterAll(async () => {
  service.child.kill('SIGTERM');
  await service.exit;
  proxy.close();
  await server.remove();
});

test('whatever bytes replace messages of PostgreSQL, requests get 200 or 503, and the process goes on', async () => {
  const add = (id: number) => post(`http://127.0.0.1:${service.port}`, { id, name: 'Fern' }, TOKEN);
  const types = fc.constantFrom(...'RSKZ12TDCEN');
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 });
  // The first bytes are often a valid type and the length of the message.
  const framed = fc.tuple(types, bytes).map(([type, content]) => {
    const header = Buffer.from(`${type}    `);
    header.writeUInt32BE(4 + content.length, 1);
    return Buffer.concat([header, content]);
  });
  let id = 0;
  await fc.assert(
    fc.asyncProperty(types, fc.oneof(bytes, framed), async (type, replacement) => {
      proxy.mutate = () => Buffer.from(replacement);
      proxy.type = type;
      for (const status of await Promise.all([add(++id), add(++id), add(1)]))
        expect([200, 503]).toContain(status);
      proxy.type = undefined;
      await eventually(async () => expect(await add(++id)).toBe(200));
    }),
    randomValues(40),
  );
  expect(proxy.count).toBeGreaterThan(0);
  expect(service.child.exitCode).toBeNull();
});
