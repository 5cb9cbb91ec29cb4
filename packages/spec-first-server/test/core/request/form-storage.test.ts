import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmdirSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Codecs, type FormCoder, loadDocument } from 'openapi-document';
import { pino } from 'pino';
import { eventually } from 'test-support/eventually';
import { Account } from '../../../src/core/account.ts';
import { formStorage } from '../../../src/core/request/form-storage.ts';
import { limitedStream } from '../../../src/core/request/streams.ts';
import { removeDeadUploads } from '../../../src/core/request/upload-folders.ts';
import { Resources } from '../../../src/http/resources.ts';

const file = { type: 'string', format: 'binary' };
const schema = {
  type: 'object',
  properties: {
    photo: file,
    upload: file,
    counts: { type: 'array', items: { type: 'integer' } },
    tree: { type: 'object' },
    once: { type: 'string' },
  },
};
const encoding = { tree: { style: 'deepObject' }, once: { explode: false } };
const content = { 'multipart/form-data': { schema, encoding } };
const document = {
  openapi: '3.1.0',
  info: { title: 'A', version: '1' },
  paths: { '/a': { post: { requestBody: { content } } } },
};
const { operations } = await loadDocument(document);
const [media] = operations.flatMap(({ requestBody }) => requestBody?.media ?? []);
if (media === undefined) throw new Error('the document has no media type');

const codecs = new Codecs();
await codecs.load([media]);
const coder = codecs.of(media) as FormCoder;

const MIB = 1024 ** 2;

const resources = new Resources();
const { memory } = resources;

/** The accounts of a test. They are settled at its end, as the service does. */
const accounts: Account[] = [];
const settle = (): void => {
  for (const account of accounts.splice(0)) account.settle();
};
afterEach(() => {
  settle();
  expect(memory.bytesLeft).toBe(64 * MIB);
});

const part = (disposition: string, text: string | Buffer, type?: string): Buffer =>
  Buffer.concat([
    Buffer.from(`--b\r\nContent-Disposition: ${disposition}\r\n`),
    Buffer.from(`${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`),
    Buffer.from(text),
    Buffer.from('\r\n'),
  ]);
const END = Buffer.from('--b--\r\n');
const form = (...parts: Buffer[]): Buffer => Buffer.concat([...parts, END]);

interface Options {
  readonly limit?: number;
  readonly textLimit?: number;
  /** True if the client declares the length, so that small files are kept in memory. */
  readonly isDeclared?: boolean;
}

const message = { format: media, contentType: 'multipart/form-data; boundary=b' };

async function read(
  bytes: Buffer | Readable,
  { limit = 1e6, textLimit = 1e9, isDeclared = true }: Options = {},
): Promise<Record<string, unknown>> {
  const length = Buffer.isBuffer(bytes) && isDeclared ? bytes.length : Infinity;
  const account = new Account(resources, undefined);
  accounts.push(account);
  const storage = formStorage(length, textLimit, account);
  const chunks = storage.charged(limitedStream(bytes, limit));
  return Object(await coder.read(chunks, message, storage));
}

test('a form larger than the limit is rejected', async () => {
  const bytes = form(part('form-data; name="upload"; filename="a"', 'x'.repeat(1000)));
  expect((await read(bytes, { limit: bytes.length })).upload).toBeInstanceOf(File);
  for (const isDeclared of [true, false])
    await expect(read(bytes, { limit: 500, isDeclared })).rejects.toMatchObject({ status: 413 });
});

describe('the memory of a form', () => {
  const limit = 10 * MIB;
  const text = part('form-data; name="other"', 'x'.repeat(MIB));

  test('includes its texts, but not its files on disk', async () => {
    const upload = part('form-data; name="upload"; filename="a"', Buffer.alloc(5 * MIB));
    await read(form(text, upload), { limit });
    const held = 64 * MIB - memory.bytesLeft;
    expect(held).toBeGreaterThan(MIB);
    expect(held).toBeLessThan(1.01 * MIB);
  });

  test('must suffice, or else the answer is 503', async () => {
    const others = memory.bytesLeft - MIB;
    expect(memory.reserve(others)).toBe(true);
    await expect(read(form(text), { limit })).rejects.toMatchObject({ status: 503 });
    memory.reserve(-others);
  });
});

/** Returns the files of a folder, or none if it was removed or belongs to another user. */
function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((file) => join(folder, file));
  } catch {
    return [];
  }
}

describe('files', () => {
  /** No other test uploads files of this size. */
  const SIZE = 71_993;

  function filesOf(size: number): string[] {
    const folders = readdirSync(tmpdir()).filter((name) => name.startsWith('upload-'));
    const paths = folders.flatMap((name) => filesIn(join(tmpdir(), name)));
    return paths.filter((path) => statSync(path, { throwIfNoEntry: false })?.size === size);
  }

  /** The files of earlier runs of these tests, if they were killed. */
  const leftovers = new Set([SIZE, 65_459].flatMap(filesOf));
  const filesOnDisk = (size = SIZE) => filesOf(size).filter((path) => !leftovers.has(path));

  const upload = part('form-data; name="upload"; filename="a"', 'x'.repeat(SIZE));

  test('of a small body are kept in memory', async () => {
    const bytes = form(part('form-data; name="upload"; filename="a"', 'x'.repeat(65_459)));
    expect(bytes).toHaveLength(65_536);
    const { upload: file } = await read(bytes);
    expect(filesOnDisk(65_459)).toEqual([]);
    expect((file as File).size).toBe(65_459);
  });

  test.each([
    ['a large body', true],
    ['a body of unknown length', false],
  ])('of %s are on disk until the release, for their owner only', async (_title, isDeclared) => {
    const { upload: file } = await read(form(upload), { isDeclared });
    const modes = filesOnDisk().map((path) =>
      [dirname(path), path].map((name) => statSync(name).mode & 0o777),
    );
    expect(modes).toEqual([[0o700, 0o600]]);
    expect(await (file as File).text()).toBe('x'.repeat(SIZE));
    settle();
    await eventually(() => filesOnDisk().length === 0);
  });
});

test('texts have a limit of their own, and files do not count', async () => {
  const photo = part('form-data; name="upload"; filename="a"', 'x'.repeat(100), 'image/x');
  const texts = [part('form-data; name="other"', 'abc'), part('form-data; name="more"', 'de')];
  expect(await read(form(photo, ...texts), { textLimit: 5 })).toMatchObject({ other: 'abc' });
  await expect(read(form(photo, ...texts), { textLimit: 4 })).rejects.toMatchObject({
    status: 413,
    message: 'the texts of the body must be at most 4 bytes: send a file instead',
  });
});

test('folders of an earlier process with the same id are removed', async () => {
  const [earlier = '', own = ''] = ['earlier', 'own'].map((name) =>
    join(tmpdir(), `upload-${hostname()}_${process.pid}-${name}`),
  );
  mkdirSync(earlier);
  mkdirSync(own);
  utimesSync(earlier, 1, 1);
  removeDeadUploads(pino({ level: 'silent' }));
  await eventually(() => !existsSync(earlier));
  expect(existsSync(own)).toBe(true);
  rmdirSync(own);
});

test('a process that ends removes the folders of its uploads', () => {
  const folder = mkdtempSync(join(tmpdir(), 'exit-'));
  const source = (file: string) => new URL(`../../../src/${file}`, import.meta.url);
  const program = `
    import { readdirSync } from 'node:fs';
    import { createUploadFolder } from '${source('core/request/upload-folders.ts')}';
    import { Folders } from '${source('http/resources.ts')}';
    createUploadFolder({ defer() {}, folders: new Folders() });
    console.log(readdirSync(process.env.TMPDIR).length);
    process.exit(0);
  `;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, TMPDIR: folder },
    encoding: 'utf8',
  });
  expect(stdout.trim()).toBe('1');
  expect(readdirSync(folder)).toEqual([]);
  rmdirSync(folder);
});
