import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeEach, expect, test } from '@jest/globals';

const folder = mkdtempSync(join(tmpdir(), 'plants-checked-'));
afterAll(() => rmSync(folder, { recursive: true }));
const cache = join(folder, 'cache');
const source = join(folder, 'package/src');
mkdirSync(cache);

// A copy of the package, so that its code can be changed.
cpSync(resolve('packages/openapi-document/src'), source, { recursive: true });
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
const program = join(folder, 'program.mjs');
writeFileSync(
  program,
  `
  import { checkDocument, loadDocument } from '${join(source, 'index.ts')}';
  process.on('message', async (file) => {
    const { problems, notices } = checkDocument(await loadDocument(file));
    process.send([...problems, ...notices].map(({ message }) => message).join());
  });`,
);
const child = fork(program, { env: { NODE_COMPILE_CACHE: cache }, execArgv: ['--no-warnings'] });
afterAll(() => void child.kill());

/** What a process finds in a document whose schema is this. */
async function findingsIn(schema: string): Promise<unknown> {
  const file = join(folder, 'openapi.yaml');
  const head = 'openapi: 3.1.0\ninfo: { title: A, version: 1.0.0 }\npaths: {}\n';
  writeFileSync(file, `${head}components: { schemas: { S: ${schema} } }\n`);
  child.send(file);
  const [findings] = await once(child, 'message');
  return findings;
}

/** The file that keeps the notices. */
const kept = join(cache, 'checked-documents/last.json');

const SCHEMA = '{ type: string, format: leaf }';
const NOTICE = 'format leaf is not known and not checked';

// What is kept differs from what is found, so that it shows what a process has read.
beforeEach(async () => {
  mkdirSync(dirname(kept), { recursive: true });
  expect(await findingsIn(SCHEMA)).toBe(NOTICE);
  writeFileSync(kept, readFileSync(kept, 'utf8').replace('leaf', 'kept'));
});

test('a document without problems is not checked again until it changes, and one with a problem each time', async () => {
  expect(await findingsIn(SCHEMA)).toBe(NOTICE.replace('leaf', 'kept'));
  expect(await findingsIn('{ type: string, format: root }')).toBe(NOTICE.replace('leaf', 'root'));
  for (const _start of [1, 2]) {
    expect(await findingsIn('{ type: strin, format: root }')).toContain('must be equal to one of the allowed values');
  }
});

test('a document is checked again after the code of the check was changed, or a file was not written to its end', async () => {
  appendFileSync(join(source, 'checks/check.ts'), '\n');
  expect(await findingsIn(SCHEMA)).toBe(NOTICE);
  writeFileSync(kept, readFileSync(kept, 'utf8').slice(0, -1));
  expect(await findingsIn(SCHEMA)).toBe(NOTICE);
});

test('a document is checked where nothing can be kept', async () => {
  rmSync(kept);
  mkdirSync(kept);
  expect(await findingsIn(SCHEMA)).toBe(NOTICE);
});
