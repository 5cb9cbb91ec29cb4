import { createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { Unavailable } from '../../src/postgres/database.ts';
import { listen, open, opened, proxy, server, session, useServer } from './support.ts';

useServer();

test('a database opens although the server sends nothing, and closes while a call waits', async () => {
  const through = await proxy();
  through.silent = true;
  const database = await open(`postgres://u:p@127.0.0.1:${through.port}/plants?connect_timeout=1`);
  const lost = expect(database.add('Basil')).rejects.toThrow(Unavailable);
  await database.close();
  await lost;
});

test('a database is unavailable while the network is silent, and recovers', async () => {
  const through = await proxy();
  const url = (await server.createSchema()).replace(String(server.port), String(through.port));
  const database = await open(`${url}&statement_timeout=300&connect_timeout=1&max=1`);
  through.silent = true;
  through.silence();
  await expect(database.add('Basil')).rejects.toThrow(/timeout/);
  await expect(database.ready()).rejects.toThrow(Unavailable);
  through.silent = false;
  await eventually(() => database.add('Basil'));
});

test('rejects calls while no connection can be opened, and recovers', async () => {
  const through = await proxy();
  const url = (await server.createSchema()).replace(String(server.port), String(through.port));
  const database = await open(`${url}&statement_timeout=300&connect_timeout=1&max=2`);
  through.silent = true;
  through.silence();
  await expect(database.add('Basil')).rejects.toThrow(/timeout/);
  await expect(database.add('Basil')).rejects.toThrow(Unavailable);
  for (let call = 0; call < 4; call += 1) {
    await expect(database.add('Basil')).rejects.toThrow(Unavailable);
  }
  through.silent = false;
  await eventually(() => database.add('Basil'));
});

test('no connection is used any more after one of them was silent', async () => {
  const through = await proxy();
  const url = await server.createSchema();
  const database = await open(
    `${url.replace(String(server.port), String(through.port))}&statement_timeout=1500`,
  );
  const allRun = Promise.withResolvers<void>();
  let running = 0;
  const task = async () => {
    running += 1;
    if (running === 4) allRun.resolve();
    await allRun.promise;
  };
  await Promise.all(Array.from({ length: 4 }, () => database.run(task)));
  expect(database.stats()).toMatchObject({ connections: 4, connections_idle: 4 });
  through.silence();
  await expect(database.add('Basil')).rejects.toThrow(/timeout/);
  await database.add('Basil');
});

test('a database closes while the network is silent', async () => {
  const through = await proxy();
  const url = (await server.createSchema()).replace(String(server.port), String(through.port));
  const database = await open(`${url}&statement_timeout=300&connect_timeout=1`);
  through.silent = true;
  through.silence();
  const lost = database.add('Basil').catch((error: unknown) => error);
  await database.close();
  expect(await lost).toBeInstanceOf(Unavailable);
});

test('a closing database finishes waiting calls, rejects new ones, and closes its connections', async () => {
  const url = await server.createSchema();
  const database = await open(`${url}&application_name=closed`);
  const waiting = Array.from({ length: 1000 }, () => database.add('Basil'));
  const closed = database.close();
  await expect(database.add('Basil')).rejects.toThrow(Unavailable);
  await Promise.all(waiting);
  await closed;
  await eventually(async () => {
    const rows = await server.query(
      "SELECT FROM pg_stat_activity WHERE application_name = 'closed'",
    );
    return rows.length === 0;
  });
});

test('a task that takes too long leaves no connection', async () => {
  const url = await server.createSchema();
  const database = await open(`${url}&application_name=late&statement_timeout=200&max=1`);
  await expect(database.run(() => new Promise(() => {}))).rejects.toThrow(/timeout/);
  // The connection of the task is closed after that which cancels its statement.
  await eventually(async () => {
    const names = "('late', 'group-commit cancel')";
    const text = `SELECT FROM pg_stat_activity WHERE application_name IN ${names}`;
    return (await server.query(text)).length === 0;
  });
});

test('a database is unavailable while the server has no connection left', async () => {
  const url = await server.createDatabase();
  await open(url);
  await server.query("CREATE ROLE single LOGIN PASSWORD 'p' CONNECTION LIMIT 1");
  await server.query(
    'GRANT SELECT, INSERT ON notes TO single; GRANT CREATE ON SCHEMA public TO single',
    url,
  );
  const single = url.replace(/\/\/.*@/, '//single:p@');
  const holder = await session(single);
  const database = await open(single);
  await expect(database.add('Basil')).rejects.toThrow(/too many connections.*SQLSTATE 53300/);
  await holder.end();
  await eventually(() => database.ready());
  await database.add('Basil');
});

test('a database is unavailable while the server is read-only, and finds the next primary', async () => {
  const url = await server.createDatabase();
  const database = await open(url);
  const name = new URL(url).pathname.slice(1);
  const backends = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`;
  await server.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on; ${backends}`);
  await eventually(async () =>
    expect(await database.ready().catch(String)).toMatch(/read-only transaction/),
  );
  await expect(database.add('Basil')).rejects.toThrow(Unavailable);
  // Only new connections see this: one that still reads only must not be used again.
  await server.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
  await database.ready();
  await database.add('Basil');
});

test('a connection starts with the host of the last one, not with a dead host', async () => {
  let attempts = 0;
  const dead = createServer((socket) => {
    attempts += 1;
    socket.destroy();
  });
  opened.push({ close: () => dead.close() });
  const port = await listen(dead);
  const url = await server.createSchema();
  const database = await open(`${url.replace('@', `@127.0.0.1:${port},`)}&application_name=last`);
  await database.add('Basil');
  const before = attempts;
  expect(before).toBeGreaterThan(0);
  await server.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'last'",
  );
  await eventually(() => database.add('Basil'));
  expect(attempts).toBe(before);
});
