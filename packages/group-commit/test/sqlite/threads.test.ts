import { spawnSync } from 'node:child_process';
import { afterEach, expect, test } from '@jest/globals';
import type { Call } from '../../src/sqlite/runner.ts';
import type { Request } from '../../src/sqlite/session.ts';
import { openThread, type SessionClient } from '../../src/sqlite/threads.ts';
import { file, ids, useFolder } from './support.ts';

useFolder();

const module = new URL('./notes.ts', import.meta.url).href;
const request = (kind: Request['kind'], ...calls: Call[]): Request => ({
  kind,
  calls,
  milliseconds: 1_000,
});
const add = (id: number): Call => ['add', { id, text: 'a' }];

let session: SessionClient | undefined;
afterEach(async () => {
  await session?.close();
  session = undefined;
});

test('only the calls with an argument or a result that cannot be cloned fail', async () => {
  session = openThread({ file, module, readOnly: false });
  const symbol: Call = ['add', { id: Symbol('id'), text: 'a' }];
  const calls = [add(1), symbol, ['uncloneable'], ['bytes', 1], add(2)] satisfies Call[];
  const error = (message: string) => ({ error: { name: 'DataCloneError', message } });
  const outcomes = [
    undefined,
    error('Symbol(id) could not be cloned.'),
    error('() => 1 could not be cloned.'),
    { result: new Uint8Array([7]) },
    undefined,
  ];
  expect(await session.send(request('write', ...calls))).toMatchObject(outcomes);
  expect(ids()).toEqual([1, 2]);
});

test('an error of the module is reported also if a member of it cannot be cloned', async () => {
  const thrower =
    "data:text/javascript,export default () => { throw Object.assign(new Error('a fault'), { retry() {} }) }";
  session = openThread({ file, module: thrower, readOnly: false });
  const answer = await session.send(request('rehearse'));
  expect(answer).toMatchObject({ message: expect.stringMatching(/a fault/), permanent: true });
});

test('an outage is reported also if an argument cannot be cloned', async () => {
  const missing = '/nonexistent/folder/notes.db';
  session = openThread({ file: missing, module, readOnly: true });
  const answer = await session.send(request('read', ['list'], ['bytes', Symbol('length')]));
  expect(answer).toMatchObject({ permanent: true });
});

test('a thread has a small heap for new objects, and a name', async () => {
  session = openThread({ file, module, readOnly: false });
  expect(await session.send(request('read', ['limits']))).toEqual([
    { result: { maxYoungGenerationSizeMb: 6, name: 'sqlite' } },
  ]);
  await session.close();
  session = openThread({ file, module, readOnly: true });
  expect(await session.send(request('read', ['limits']))).toMatchObject([
    { result: { name: 'sqlite-reader' } },
  ]);
});

test('an uncaught error in a thread ends the process', () => {
  const thrower =
    "data:text/javascript,export default () => ({ later() { setImmediate(() => { throw new Error('a fault') }) } })";
  const program = `import { openThread } from '${new URL('../../src/sqlite/threads.ts', import.meta.url)}';
    const session = openThread({ file: ${JSON.stringify(file)}, module: ${JSON.stringify(thrower)}, readOnly: false });
    await session.send({ kind: 'write', calls: [['later']], milliseconds: 1000 });
    setInterval(() => {}, 1000);`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('a fault') });
  expect(stderr).not.toContain('Warning');
});
