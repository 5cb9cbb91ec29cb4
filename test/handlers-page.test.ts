import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import { ENVIRONMENT } from 'test-support/environment';
import { eventually } from 'test-support/eventually';
import { end, start } from 'test-support/project';
import { PROJECT } from './support/launch.ts';
import { projectOf } from './support/page-project.ts';

const run = promisify(execFile);
const page = readFileSync(join(PROJECT, 'docs/handlers.md'), 'utf8');
const { blocks, folder } = await projectOf('docs/handlers.md');
const env = { ...ENVIRONMENT, NO_COLOR: '1' };
afterAll(() => rmSync(folder, { recursive: true }));

test('the tests of docs/handlers.md pass', async () => {
  const tests = ['--test', '--test-isolation=none', 'test/rooms.test.ts', 'test/service.test.ts'];
  const { stdout } = await run(process.execPath, tests, {
    cwd: folder,
    env: { ...env, CONTRACT_RUNS: process.env.CONTRACT_RUNS ?? '5' },
  });
  expect(stdout).toMatch(/Contract tests: 4 of 4 operations succeeded at least once\./);
});

test('the service of docs/handlers.md starts, serves and stops', async () => {
  const variables = { ACCESS_TOKENS: 'ann:secret-of-the-tests,bob:other', MAX_REQUESTS: '3' };
  const service = start(folder, ['src/main.ts'], variables);
  try {
    const [line] = await service.waitForOutput(/^\{.*"msg":"listening".*\}$/m);
    const { url } = JSON.parse(line);
    const headers = { Authorization: 'Bearer secret-of-the-tests' };
    const missing = await fetch(`${url}/rooms/7`, { headers });
    expect([missing.status, missing.headers.get('X-Limit')]).toEqual([404, '3']);
    const noRoom = { message: 'there is no room 7', places: [] };
    expect(await missing.json()).toMatchObject(noRoom);
    const german = { ...headers, 'Accept-Language': 'de-AT, de' };
    const invalid = await fetch(`${url}/rooms/10`, { headers: german });
    const tooLarge = { message: '/path/roomId darf höchstens 9 sein', places: ['/path/roomId'] };
    expect([invalid.status, await invalid.json()]).toEqual([400, tooLarge]);
    const put = (token: string) =>
      fetch(`${url}/rooms/7`, {
        method: 'PUT',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: '{"name":"Loft"}',
      });
    expect((await put('other')).status).toBe(204);
    const notOwned = await put('secret-of-the-tests');
    expect([notOwned.status, await notOwned.json()]).toEqual([404, noRoom]);
    const changes = await fetch(`${url}/changes`, { headers });
    expect(await changes.text()).toBe('{"name":"Room 1"}\n{"name":"Room 2"}\n{"name":"Room 3"}\n');
    let limited = changes;
    // The limit counts each minute, and a minute may end between the requests.
    await eventually(async () => {
      limited = await fetch(`${url}/changes`, { headers });
      return limited.status !== 200;
    });
    expect([limited.status, limited.headers.get('Retry-After')]).toEqual([429, '60']);
    expect(page).toContain(`\`${await limited.text()}\``);
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    expect(service.output()).toMatch(/"reason":"no such room"/);
  } finally {
    end(service);
  }
});

test('the service of docs/handlers.md runs in an Express app, as a fetch handler and in AWS Lambda', async () => {
  const bundle = blocks.find(({ language, code }) => language === 'sh' && code.includes('esbuild'));
  const command = bundle?.code.replace('npx esbuild', join(PROJECT, 'node_modules/.bin/esbuild'));
  await run('sh', ['-c', command ?? ''], { cwd: folder, env });
  const program = `
    import { once } from 'node:events';
    import { host } from './src/host.ts';
    import worker from './src/worker.ts';
    import bundled, { handler } from './worker.mjs';
    const server = host.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const headers = { Authorization: 'Bearer secret' };
    const get = (path) => fetch(\`http://127.0.0.1:\${server.address().port}\${path}\`, { headers });
    const request = () => new Request('http://any.example/v1/changes', { headers });
    const plan = new FormData();
    plan.set('plan', new File(['%PDF'], 'plan.pdf', { type: 'application/pdf' }));
    const upload = { method: 'POST', headers, body: plan };
    const paths = ['/', '/api/changes', '/api/v1/changes', '/changes'];
    const answers = await Promise.all(paths.map(get));
    answers.push(await worker.fetch(request()), await bundled.fetch(request()));
    answers.push(await bundled.fetch(new Request('http://any.example/v1/plans', upload)));
    const results = [];
    for (const answer of answers) results.push([answer.status, await answer.text()]);
    for (const [method, body] of [['PUT', '{"name":"Loft"}'], ['GET', undefined]]) {
      const { statusCode, cookies, body: text } = await handler({
        rawPath: '/v1/rooms/2',
        rawQueryString: '',
        headers: { ...headers, host: 'any.example', 'content-type': 'application/json' },
        cookies: ['a=1', 'b=2'],
        requestContext: { http: { method } },
        body,
      });
      results.push([statusCode, text, cookies]);
    }
    console.log(JSON.stringify(results));
    process.exit();`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], {
    cwd: folder,
    // The program exits before the uploaded file is removed.
    env: { ...env, TMPDIR: folder },
  });
  const changes = [200, expect.stringContaining('{"name":"Room 3"}')];
  const missing = [404, expect.stringContaining('<!DOCTYPE html>')];
  expect(JSON.parse(stdout)).toEqual([
    ...[[200, 'home'], changes, missing, missing, changes, changes, [204, '']],
    ...[
      [204, '', []],
      [200, '{"name":"Loft"}', []],
    ],
  ]);
});

test('the service of docs/handlers.md has the data for development that the page names', async () => {
  const [, variable = '', names = ''] = /`(SAMPLE_ROOMS)=([^`]*)`/.exec(page) ?? [];
  const service = start(folder, ['src/main.ts'], { [variable]: names });
  try {
    const [line] = await service.waitForOutput(/^\{.*"msg":"listening".*\}$/m);
    const { url, token } = JSON.parse(line);
    const reply = await fetch(`${url}/rooms/2`, { headers: { Authorization: `Bearer ${token}` } });
    expect(await reply.json()).toEqual({ name: names.split(',')[1] });
  } finally {
    end(service);
  }
});

test('an invalid MAX_REQUESTS prevents the start of the service of docs/handlers.md', async () => {
  const service = start(folder, ['src/main.ts'], { MAX_REQUESTS: 'many' });
  expect(await service.exit).toBe(1);
  expect(service.output()).toContain('must be an integer from 1 to 9999, got ');
});
