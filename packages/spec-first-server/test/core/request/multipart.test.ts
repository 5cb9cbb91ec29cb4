import { readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { withFiles } from 'test-support/documents';
import { eventually } from 'test-support/eventually';
import { Account, Resources } from '../../../src/core/account.ts';
import { multipart } from '../../../src/core/request/multipart.ts';
import { cutOff, limitedStream } from '../../../src/core/request/streams.ts';

const file = { type: 'string', format: 'binary' };
const schema = {
  type: 'object',
  properties: {
    photo: file,
    scans: { type: 'array', items: file },
    any: {},
    meta: { type: 'object' },
    note: { type: 'string' },
    upload: file,
    counts: { type: 'array', items: { type: 'integer' } },
    tree: { type: 'object' },
    once: { type: 'string' },
  },
};
const encoding = {
  photo: { contentType: 'image/png, image/jpeg' },
  scans: { contentType: 'image/*' },
  meta: { contentType: 'application/json' },
  note: { contentType: 'text/csv' },
  any: { contentType: '*/*' },
  tree: { style: 'deepObject' },
  once: { explode: false },
};
const content = { 'multipart/form-data': { schema, encoding } };
const document = {
  openapi: '3.1.0',
  info: { title: 'A', version: '1' },
  paths: { '/a': { post: { requestBody: { content } } } },
};
const media = await withFiles({ 'openapi.json': JSON.stringify(document) }, async (folder) => {
  const { operations } = await loadDocument(`${folder}/openapi.json`);
  const [first] = operations.flatMap(({ requestBody }) => requestBody?.media ?? []);
  if (first === undefined) throw new Error('the document has no media type');
  return first;
});

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
  readonly contentType?: string;
  /** True if the client declares the length, so that small files are kept in memory. */
  readonly isDeclared?: boolean;
}

async function read(
  bytes: Buffer | Readable,
  {
    limit = 1e6,
    textLimit = 1e9,
    contentType = 'multipart/form-data; boundary=b',
    isDeclared = true,
  }: Options = {},
): Promise<Record<string, unknown>> {
  const length = Buffer.isBuffer(bytes) && isDeclared ? String(bytes.length) : undefined;
  const headers = { 'content-type': contentType, 'content-length': length };
  const account = new Account(resources, undefined);
  accounts.push(account);
  return Object(await multipart(media, headers, limitedStream(bytes, limit), textLimit, account));
}

test('texts are values of the types in the schema, and files are File objects', async () => {
  const body = await read(
    form(
      part('form-data; name="counts"', '1'),
      part('form-data; name="counts"', '2'),
      part('form-data; name="tree[a]"', 'b'),
      part('form-data; name="other"', 'two\r\nlines'),
      part('form-data; name="upload"; filename="größe.bin"', Buffer.from([0x61, 0xff]), 'image/x'),
    ),
  );
  const { upload, ...texts } = body;
  expect(texts).toEqual({ counts: [1, 2], tree: { a: 'b' }, other: 'two\r\nlines' });
  expect(upload).toBeInstanceOf(File);
  const { name, type, size } = upload as File;
  expect([name, type, size]).toEqual(['größe.bin', 'image/x', 2]);
  expect(Buffer.from(await (upload as File).arrayBuffer())).toEqual(Buffer.from([0x61, 0xff]));
});

describe('a part with an empty filename', () => {
  const unnamed = (name: string, text: string) =>
    part(`form-data; name="${name}"; filename=""`, text, 'application/octet-stream');

  test('and no bytes is a file input without a file, so it is left out', async () => {
    const file = part('form-data; name="scans"; filename="a.png"', 'a', 'image/png');
    for (const isDeclared of [true, false]) {
      const bytes = form(unnamed('photo', ''), unnamed('scans', ''), file);
      expect(await read(bytes, { isDeclared })).toEqual({ scans: [expect.any(File)] });
    }
    expect(await read(form(unnamed('scans', '')))).toEqual({});
  });

  test('and bytes is a file', async () => {
    const text = 'a'.repeat(200_000);
    for (const isDeclared of [true, false]) {
      const { upload } = await read(form(unnamed('upload', text)), { isDeclared });
      expect(await (upload as File).text()).toBe(text);
    }
    await expect(read(form(unnamed('photo', 'a')))).rejects.toMatchObject({ status: 415 });
  });
});

test('a form without parts is an empty object', async () => {
  expect(await read(form())).toEqual({});
});

test.each([
  ['multipart/form-data; boundary="b"'],
  ['Multipart/Form-Data; charset=utf-8; Boundary=b'],
  ['multipart/form-data; boundary=b; charset=utf-8'],
])('a form with the Content-Type %s is read', async (contentType) => {
  const bytes = form(part('form-data; name="other"', '1'));
  expect(await read(bytes, { contentType })).toEqual({ other: '1' });
});

describe('a part with declared media types', () => {
  interface Sent {
    readonly filename?: string;
    readonly type?: string;
  }

  const send = (name: string, { filename, type }: Sent) => {
    const suffix = filename === undefined ? '' : `; filename="${filename}"`;
    return read(form(part(`form-data; name="${name}"${suffix}`, '{}', type)));
  };

  test.each<[name: string, sent: Sent, value: unknown]>([
    ['photo', { filename: 'a.png', type: 'image/png' }, 'image/png'],
    ['photo', { filename: 'a.jpg', type: 'IMAGE/JPEG' }, 'image/jpeg'],
    ['photo', { filename: 'a.jpg', type: 'image/jpeg; q=1' }, 'image/jpeg'],
    ['scans', { filename: 'a.webp', type: 'image/webp' }, 'image/webp'],
    ['any', { filename: 'a.bin', type: 'application/octet-stream' }, 'application/octet-stream'],
    ['meta', {}, {}],
    ['meta', { type: 'application/json' }, {}],
    ['meta', { filename: 'blob', type: 'application/json; charset=utf-8' }, {}],
    ['note', {}, '{}'],
    ['note', { type: 'text/csv' }, '{}'],
    ['undeclared', {}, '{}'],
    ['undeclared', { type: 'text/html' }, '{}'],
    ['undeclared', { filename: 'a.txt', type: 'text/plain' }, 'text/plain'],
  ])('is accepted: %s with %j', async (name, sent, value) => {
    const body = await send(name, sent);
    const [item] = [body[name]].flat();
    expect(item instanceof File ? item.type : item).toEqual(value);
  });

  test.each<[name: string, sent: Sent, status: number, message: string]>([
    [
      'photo',
      { filename: 'a.html', type: 'text/html' },
      415,
      'must be image/png or image/jpeg (RFC 7578 §4.4)',
    ],
    ['photo', { filename: 'a.svg', type: 'image/svg+xml' }, 415, 'must be image/png or image/jpeg'],
    ['photo', { filename: 'a.png' }, 415, 'must be image/png or image/jpeg'],
    ['scans', { filename: 'a.pdf', type: 'application/pdf' }, 415, 'must be image/*'],
    ['meta', { filename: 'a.html', type: 'text/html' }, 415, 'must be application/json'],
    ['note', { type: 'text/html' }, 415, 'must be text/csv'],
    ['photo', {}, 400, 'must be a file, with a filename'],
    ['photo', { type: 'image/png' }, 400, 'must be a file, with a filename'],
    ['scans', {}, 400, 'must be a file, with a filename'],
  ])('is rejected: %s with %j', async (name, sent, status, message) => {
    // The client may have chosen the name, so the reason for the log leaves it out.
    await expect(send(name, sent)).rejects.toMatchObject({
      status,
      message: expect.stringContaining(`the part "${name}" of the body ${message}`),
      reason: expect.stringContaining(`a part of the body ${message}`),
    });
  });
});

test('a text has the charset that its part names', async () => {
  const latin1 = part('form-data; name="other"', Buffer.from([0xf6]), 'text/plain; charset=latin1');
  expect(await read(form(latin1))).toEqual({ other: 'ö' });
  const unknown = part('form-data; name="other"', 'a', 'text/plain; charset=foo');
  await expect(read(form(unknown))).rejects.toMatchObject({ status: 415 });
});

test('the items of an array may be one part of JSON', async () => {
  const counts = (text: string) => part('form-data; name="counts"', text, 'application/json');
  expect(await read(form(counts('[1,2]'), counts('3'), counts('[]')))).toEqual({
    counts: [1, 2, 3],
  });
  expect(await read(form(counts('[]')))).toEqual({ counts: [] });
});

test('a file without a filename is rejected as such, also if it is not UTF-8', async () => {
  const bytes = form(part('form-data; name="photo"', Buffer.from([0xff, 0xd8]), 'image/jpeg'));
  await expect(read(bytes)).rejects.toMatchObject({
    status: 400,
    message: 'the part "photo" of the body must be a file, with a filename',
  });
});

test.each([
  ['a text', 'form-data; name="other"', 'a\xff', undefined],
  [
    'a file that is read as text',
    'form-data; name="meta"; filename="a"',
    '\xff',
    'application/json',
  ],
  ['a name', 'form-data; name="\xff"', '1', undefined],
  ['a filename', 'form-data; name="upload"; filename="\xff"', '1', undefined],
])('%s that is not UTF-8 is rejected', async (_title, disposition, text, type) => {
  const bytes = form(part(disposition, text, type)).toString();
  await expect(read(Buffer.from(bytes, 'latin1'))).rejects.toMatchObject({
    status: 400,
    message: 'texts and names in the body must be UTF-8',
  });
});

const required =
  'the body must be multipart/form-data (RFC 7578), and begin and end with its boundary';

test.each<[string, Buffer, Options]>([
  ['is not a form', Buffer.from('nothing'), {}],
  ['is empty', Buffer.alloc(0), {}],
  ['has no end', part('form-data; name="a"', '1'), {}],
  ['ends in a file', part('form-data; name="upload"; filename="a"', '1'), {}],
  [
    'has another boundary',
    form(part('form-data; name="a"', '1')),
    { contentType: 'multipart/form-data; boundary=c' },
  ],
  ['has no boundary in its type', form(), { contentType: 'multipart/form-data' }],
])('a body that %s is rejected', async (_title, bytes, options) => {
  for (const isDeclared of [true, false])
    await expect(read(bytes, { ...options, isDeclared })).rejects.toMatchObject({
      status: 400,
      message: required,
    });
});

describe('a form with an unnamed part is rejected:', () => {
  const named = part('form-data; name="a"', '1');
  const message =
    'a part of the body must have the Content-Disposition form-data with a name (RFC 7578 §4.2)';

  test.each([
    ['a text without a name', part('form-data', '1')],
    ['a text with an empty name', part('form-data; name=""', '1')],
    ['a file without a name', part('form-data; filename="a"', '1')],
    ['no Content-Disposition', Buffer.from('--b\r\nContent-Type: text/plain\r\n\r\n1\r\n')],
    ['another disposition', part('attachment; name="a"', '1')],
    ['bytes without a name', part('form-data', '1', 'application/octet-stream')],
  ])('%s', async (_title, unnamed) => {
    for (const parts of [[unnamed], [named, unnamed], [unnamed, named]])
      await expect(read(form(...parts))).rejects.toMatchObject({ status: 400, message });
    const bytes = Readable.from([...form(named, unnamed)].map((byte) => Buffer.from([byte])));
    await expect(read(bytes)).rejects.toMatchObject({ status: 400, message });
  });
});

test('a form that arrives in chunks of any size is read', async () => {
  const bytes = form(part('form-data; name="a"', '1'), part('form-data; name="b2"', '-\r\n--\r\n'));
  for (let size = 1; size < bytes.length; size += 1) {
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
    expect(await read(Readable.from(chunks))).toEqual({ a: '1', b2: '-\r\n--\r\n' });
  }
});

test('a form has at most 1000 parts', async () => {
  const parts = (count: number) =>
    form(...Array.from({ length: count }, () => part('form-data; name="a"', '1')));
  expect((await read(parts(1000))).a).toHaveLength(1000);
  await expect(read(parts(1001))).rejects.toMatchObject({
    status: 413,
    message: 'the body must have at most 1000 parts',
  });
});

test('a form larger than the limit is rejected', async () => {
  const bytes = form(part('form-data; name="upload"; filename="a"', 'x'.repeat(1000)));
  expect((await read(bytes, { limit: bytes.length })).upload).toBeInstanceOf(File);
  for (const isDeclared of [true, false])
    await expect(read(bytes, { limit: 500, isDeclared })).rejects.toMatchObject({ status: 413 });
});

test('a text is read to its end, however long it is', async () => {
  const { other } = await read(form(part('form-data; name="other"', 'x'.repeat(2e6))), {
    limit: 3e6,
  });
  expect(other).toHaveLength(2e6);
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
    memory.release(others);
  });
});

test('a form whose client disconnects is rejected', async () => {
  async function* broken() {
    yield part('form-data; name="upload"; filename="a"', 'abc');
    throw new Error('ECONNRESET');
  }
  await expect(read(Readable.from(broken()))).rejects.toMatchObject({ message: cutOff().message });
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
  const small = part('form-data; name="upload"; filename="a"', 'x'.repeat(1000));

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

  test('of a body of unknown length are on disk, even if they are small', async () => {
    const { upload: file } = await read(form(small), { isDeclared: false });
    settle();
    await eventually(() => expect((file as File).text()).rejects.toThrow());
  });

  const once = part('form-data; name="once"', '1');
  test.each([
    ['a text instead of a file', form(upload, part('form-data; name="photo"', '1'))],
    ['a field that is given twice', form(upload, once, once)],
    ['a body without an end', upload],
    ['a body that is too large', form(upload, upload)],
  ])('are removed if the form is rejected: %s', async (_title, bytes) => {
    await expect(read(bytes, { isDeclared: false, limit: 100_000 })).rejects.toThrow();
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
    message: 'the texts of the body must be at most 4 bytes (BODY_LIMIT): send a file instead',
  });
});
