import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ENVIRONMENT } from 'test-support/environment';
import { compile, makeProject } from 'test-support/project';
import { PROJECT } from './support/launch.ts';
import { readMarkdown } from './support/markdown.ts';
import { typesOf } from './support/types.ts';

const run = promisify(execFile);
let folder = '';

beforeAll(() => {
  const { blocks } = readMarkdown(readFileSync(join(PROJECT, 'docs/moving.md'), 'utf8'));
  const files = blocks.flatMap(({ code }) => {
    const name = /^\/\/ (\S+)\n/.exec(code)?.[1];
    return name === undefined ? [] : [[name, code] as const];
  });
  const document = blocks.find(({ language }) => language === 'yaml')?.code ?? '';
  folder = makeProject({ ...Object.fromEntries(files), 'openapi.yaml': document });
  mkdirSync(join(folder, 'generated'));
  const [types = ''] = typesOf([join(folder, 'openapi.yaml')]);
  writeFileSync(join(folder, 'generated/openapi.ts'), types);
});
afterAll(() => rmSync(folder, { recursive: true }));

test('the code of docs/moving.md compiles', () => {
  const config = { extends: './tsconfig.json', include: ['src'] };
  writeFileSync(join(folder, 'tsconfig.page.json'), JSON.stringify(config));
  expect(compile(folder, '-p', 'tsconfig.page.json')).toBe('');
});

/** Messages that tell which of the two apps answered. */
const moved = [400, { message: '/query/limit must be >= 1', errors: expect.anything() }];
const stored = [201, { id: 1, title: 'Emma' }];

test.each([
  ['Express', "import { app } from './src/app.ts'; const server = app.listen(0, '127.0.0.1');"],
  [
    'Fastify',
    "import { app } from './src/old-fastify.ts'; const { server } = app; app.listen({ port: 0 });",
  ],
])(
  'in the %s app of docs/moving.md, old and new operations share data and credentials',
  async (_, start) => {
    const program = `
    import { once } from 'node:events';
    ${start}
    await once(server, 'listening');
    const url = \`http://127.0.0.1:\${server.address().port}/v1/books\`;
    const send = async (target, init) => {
      const answer = await fetch(target, init);
      return [answer.status, await answer.json()];
    };
    const headers = { Authorization: 'Bearer secret', 'Content-Type': 'application/json' };
    console.log(JSON.stringify([
      await send(url, { method: 'POST', headers, body: '{"title":"Emma"}' }),
      await send(url, { headers }),
      await send(url + '?limit=0', { headers }),
      (await send(url))[0],
    ]));
    process.exit();`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], {
      cwd: folder,
      env: ENVIRONMENT,
    });
    expect(JSON.parse(stdout)).toEqual([stored, [200, [stored[1]]], moved, 401]);
  },
);
