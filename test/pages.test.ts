import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { parseEnv, promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkDocument, loadDocument } from 'openapi-document';
import { ENVIRONMENT } from 'test-support/environment';
import { parse, parseAllDocuments } from 'yaml';
import { readMarkdown } from './support/markdown.ts';
import {
  compileAll,
  isCode,
  isDocument,
  PAGES,
  projectOf,
  readPage,
  wordOf,
} from './support/page-project.ts';

const run = promisify(execFile);
const blocksOf = (page: string) => readMarkdown(readPage(page)).blocks;
const pagesWithCode = PAGES.filter((page) => blocksOf(page).some(isCode));

const folders = new Map<string, string>();
let messages: ReadonlyMap<string, string>;
beforeAll(async () => {
  for (const page of pagesWithCode) folders.set(page, (await projectOf(page)).folder);
  messages = compileAll([...folders.values()]);
});
afterAll(() => {
  for (const folder of folders.values()) rmSync(folder, { recursive: true });
});

/** Runs a program in the project of a page. Returns the value that it prints as JSON. */
async function printed(page: string, program: string): Promise<unknown> {
  const args = ['--input-type=module', '--no-warnings', '-e', program];
  const options = { cwd: folders.get(page), env: ENVIRONMENT };
  return JSON.parse((await run(process.execPath, args, options)).stdout);
}

test.each(pagesWithCode)('the code of %s compiles', (page) => {
  expect(messages.get(folders.get(page) ?? '')).toBe('');
});

test('code that pages quote from a file is in that file', () => {
  const blocks = PAGES.flatMap(blocksOf);
  const wrong = blocks.filter((block) => {
    const file = wordOf(block, 'file');
    return file !== undefined && !readPage(file).includes(block.code);
  });
  expect(wrong).toEqual([]);
});

/** Reads a block of data. @throws {Error} if it is malformed. */
const READERS: Readonly<Record<string, (code: string) => unknown>> = {
  json: JSON.parse,
  yaml: (code) => parseAllDocuments(code).map((document) => document.toJS()),
  dotenv: parseEnv,
};

test('the data of all pages can be read, and their documents have no findings', async () => {
  const blocks = PAGES.flatMap(blocksOf);
  for (const { language, code } of blocks) READERS[language]?.(code);
  for (const { code } of blocks.filter(isDocument)) {
    const { problems, broken, notices } = checkDocument(await loadDocument(parse(code)));
    expect([...problems, ...broken, ...notices]).toEqual([]);
  }
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
    expect(await printed('docs/moving.md', program)).toEqual([
      stored,
      [200, [stored[1]]],
      moved,
      401,
    ]);
  },
);

test('the sessions of docs/recipes.md begin with a password and end, and other sites cannot use them', async () => {
  const program = `
    import { scryptSync } from 'node:crypto';
    import { once } from 'node:events';
    import { DatabaseSync } from 'node:sqlite';
    import { createApp } from 'spec-first-server';
    import { openSessions } from './src/sessions.ts';
    const db = new DatabaseSync(':memory:');
    const { handlers, verifiers } = openSessions(db);
    const salt = Buffer.alloc(16, 'salt');
    const insert = db.prepare('INSERT INTO users VALUES (?, ?, ?)');
    insert.run('ann', salt, scryptSync('right', salt, 32));
    const app = await createApp({ document: 'openapi.yaml', handlers, verifiers });
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = \`http://127.0.0.1:\${server.address().port}\`;
    const logIn = (password) =>
      fetch(url + '/session', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ name: 'ann', password }),
      });
    const wrong = await logIn('wrong');
    const right = await logIn('right');
    const [cookie] = right.headers.get('Set-Cookie').split(';');
    const statusOf = async (path, method, headers) =>
      (await fetch(url + path, { method, headers: { cookie, ...headers } })).status;
    console.log(JSON.stringify([
      wrong.status,
      right.status,
      await statusOf('/me', 'GET'),
      await statusOf('/session', 'DELETE', { origin: 'https://other.example' }),
      await statusOf('/session', 'DELETE', { origin: url }),
      await statusOf('/me', 'GET'),
    ]));
    process.exit();`;
  expect(await printed('docs/recipes.md', program)).toEqual([401, 204, 200, 403, 204, 401]);
});
