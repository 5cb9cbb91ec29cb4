import { describe, expect, test } from '@jest/globals';
import type { FormCoder, FormStorage } from '../../src/codecs/codec.ts';
import { Codecs } from '../../src/codecs/codecs.ts';
import type { FormEncoding } from '../../src/parameters/write-value.ts';
import { Schemas } from '../../src/schema/schemas.ts';

const file = { type: 'string', format: 'binary' };
const schema = {
  properties: {
    photo: file,
    scans: { type: 'array', items: file },
    any: {},
    meta: { type: 'object' },
    note: { type: 'string' },
    upload: file,
    counts: { type: 'array', items: { type: 'integer' } },
  },
};
const encoding = {
  photo: { contentType: 'image/png, image/jpeg' },
  scans: { contentType: 'image/*' },
  meta: { contentType: 'application/json' },
  note: { contentType: 'text/csv' },
  any: { contentType: '*/*' },
};
const TYPE = 'multipart/form-data; boundary=b';
const outline = new Schemas({}).outline(schema);
const format = { type: 'multipart/form-data', encoding, outline };

const codecs = new Codecs();
await codecs.load([format]);
const coder = codecs.of(format) as FormCoder;

const bytesOf = async (chunks: AsyncIterable<Uint8Array>) =>
  Buffer.concat(await Array.fromAsync(chunks));

const storage: FormStorage = {
  run: (work) => work(),
  readText: async (content, parse) => parse(await bytesOf(content)),
  readFile: async (content, name, type) =>
    new File([Uint8Array.from(await bytesOf(content))], name, { type }),
};

/** @param form each character is one byte. */
async function* chunksOf(form: string, size: number) {
  const bytes = Buffer.from(form, 'latin1');
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Reads a form. Its files are lists of their names, types and contents. */
async function read(form: string, contentType = TYPE, size = Infinity) {
  const fields = await coder.read(chunksOf(form, size), { format, contentType }, storage);
  const entries = Object.entries(fields).map(async ([name, value]) => [
    name,
    Array.isArray(value) ? await Promise.all(value.map(described)) : await described(value),
  ]);
  return Object.fromEntries(await Promise.all(entries));
}

const described = async (value: unknown) =>
  value instanceof File ? [value.name, value.type, await value.text()] : value;

const A = 'Content-Disposition: form-data; name="a"';
const C = 'Content-Disposition: form-data; name="c"; filename="d"';
const part = (...headers: string[]) => `--b\r\n${headers.join('\r\n')}\r\n\r\n`;
const sent = (name: string, content: string, suffix = '', type?: string) => {
  const types = type === undefined ? [] : [`Content-Type: ${type}`];
  return `${part(`Content-Disposition: form-data; name="${name}"${suffix}`, ...types)}${content}\r\n`;
};
const partWith = (...headers: string[]) => read(`${part(...headers)}x\r\n--b--\r\n`);
const END = '--b--\r\n';

test.each([
  ['', `--b\r\n${A}\r\n\r\n1\r\n--b\r\n${C}\r\n\r\n2\r\n--b--\r\n`],
  [
    'with spaces after the boundaries',
    `--b \r\n${A}\r\n\r\n1\r\n--b \t\r\n${C}\r\n\r\n2\r\n--b-- \r\n`,
  ],
  [
    'with empty lines before and after',
    `\r\n\r\n--b\r\n${A}\r\n\r\n1\r\n--b\r\n${C}\r\n\r\n2\r\n--b--\r\n\r\n`,
  ],
])('the parts of a form %s are read, in chunks of any size', async (_title, form) => {
  const fields = { a: '1', c: ['d', 'text/plain', '2'] };
  for (const size of [1, 2, 3, 7, 20, 1000]) expect(await read(form, TYPE, size)).toEqual(fields);
});

test.each([
  ['multipart/form-data; boundary="(b:b)"', '(b:b)'],
  ['multipart/form-data; x="; boundary=c"; BOUNDARY=b;', 'b'],
  ['multipart/form-data;boundary=----=_Part_1; charset=utf-8', '----=_Part_1'],
  [`multipart/form-data; boundary=${'b'.repeat(70)}`, 'b'.repeat(70)],
])('the Content-Type %s has the boundary %s', async (type, boundary) => {
  const form = `--${boundary}\r\n${A}\r\n\r\n1\r\n--${boundary}--\r\n`;
  expect(await read(form, type)).toEqual({ a: '1' });
});

test.each([
  'multipart/form-data',
  'multipart/form-data; boundary=""',
  `multipart/form-data; boundary=${'b'.repeat(71)}`,
  'text/plain',
])('a form with the Content-Type %s is rejected', async (type) => {
  const boundary = type.split('=')[1];
  await expect(read(`--${boundary}--`, type)).rejects.toMatchObject({ status: 400 });
});

test.each(['b', '- -', ' x'])(
  'a line that begins with the boundary and continues with "%s" is rejected',
  async (rest) => {
    const form = `--b\r\n${A}\r\n\r\n1\r\n--b${rest}\r\n${C}\r\n\r\n2\r\n--b--\r\n`;
    await expect(read(form)).rejects.toMatchObject({
      status: 400,
      message:
        'only "--" or a line break (CRLF) may follow a boundary in the body (RFC 2046 §5.1.1)',
    });
  },
);

test('a part with a transfer encoding that changes its content is rejected', async () => {
  await expect(partWith(A, 'Content-Transfer-Encoding: base64')).rejects.toMatchObject({
    status: 415,
    message: 'the Content-Transfer-Encoding of a part must be binary, 8bit or 7bit',
  });
});

test.each([
  ['before the first boundary', `x--b\r\n${A}\r\n\r\n1\r\n--b--\r\n`],
  ['beside the last boundary', `--b\r\n${A}\r\n\r\n1\r\n--b--b\r\n`],
  ['after the last boundary', `--b--\r\n--b\r\n${A}\r\n\r\n1\r\n--b--\r\n`],
])('a form with text %s is rejected', async (_title, form) => {
  await expect(read(form)).rejects.toMatchObject({
    status: 400,
    message: 'the body must be multipart/form-data (RFC 7578), and begin and end with its boundary',
  });
});

describe('the headers of a part', () => {
  test.each<[string[], unknown]>([
    [[A, 'X-A: b', 'Content-Type: Text/CSV; Charset="UTF-8"'], 'x'],
    [['Content-Disposition: form-data;', '\tname="a"'], 'x'],
    [[`${A}; filename=""`], ['', 'text/plain', 'x']],
    [[`${A}; filename="a\\"b\\\\c.txt"`], ['c.txt', 'text/plain', 'x']],
    [[`${A}; filename="a\\b;c=.txt"`], ['b;c=.txt', 'text/plain', 'x']],
    [[`${A}; filename="/etc/../passwd"`], ['passwd', 'text/plain', 'x']],
    [[`${A}; filename="a%22b%0D%0Ac%2f.txt"`], ['a"b%0D%0Ac%2f.txt', 'text/plain', 'x']],
    [[`${A}; filename=".."`], ['_', 'text/plain', 'x']],
    [[`${A}; filename=x; filename*=utf-8''gr%C3%B6%C3%9Fe`], ['größe', 'text/plain', 'x']],
    [[`${A}; filename="\xef\xbf\xbd"`], ['\uFFFD', 'text/plain', 'x']],
  ])('may be %j', async (headers, value) => {
    expect(await partWith(...headers)).toEqual({ a: value });
  });

  const valid = 'a part of the body must have valid headers of at most 16384 bytes (RFC 7578 §4)';
  const named =
    'a part of the body must have the Content-Disposition form-data with a name (RFC 7578 §4.2)';
  const utf8 = 'texts and names in the body must be UTF-8';
  test.each([
    ['a repeated header', [A, A], valid],
    ['a repeated parameter', [`${A}; name="b"`], named],
    ['an invalid Content-Type', [A, 'Content-Type: text/plain; charset="utf-8'], valid],
    ['a line without a colon', [A, 'x'], valid],
    ['a lone line feed', [`${A}\nX: y`], valid],
    ['many lines', [A, ...Array.from({ length: 2000 }, (_, index) => `X-${index}: y`)], valid],
    ['no headers', [], named],
    ['an open quotation mark', ['Content-Disposition: form-data; name="a'], named],
    ['text besides parameters', ['Content-Disposition: form-data; name=a b'], named],
    ['a name that is not UTF-8', ['Content-Disposition: form-data; name="\xff"'], utf8],
    ['a filename in another charset', [`${A}; filename*=iso-8859-1''a`], utf8],
  ])('are rejected with %s', async (_title, headers, message) => {
    await expect(partWith(...headers)).rejects.toMatchObject({ status: 400, message });
  });
});

test('the source is closed if the form is rejected', async () => {
  let isClosed = false;
  async function* endless() {
    try {
      yield Buffer.from('--b\r\nx\r\n\r\n');
      for (;;) yield Buffer.from('x');
    } finally {
      isClosed = true;
    }
  }
  await expect(coder.read(endless(), { format, contentType: TYPE }, storage)).rejects.toThrow();
  expect(isClosed).toBe(true);
});

test('a file is read in the same way if its field has a style, as Swashbuckle declares', async () => {
  const encodings = { photo: { style: 'form' }, scans: { explode: true }, note: { style: 'form' } };
  const styled = { ...format, encoding: encodings };
  const image = (name: string) => sent(name, 'a', '; filename="a.png"', 'image/png');
  const form = `${image('photo')}${image('scans')}${image('scans')}${sent('note', 'x')}${END}`;
  const message = { format: styled, contentType: TYPE };
  const file = expect.any(File);
  const fields = { photo: file, scans: [file, file], note: 'x' };
  expect(await coder.read(chunksOf(form, Infinity), message, storage)).toEqual(fields);
});

describe('a part with an empty filename', () => {
  const type = 'application/octet-stream';
  const unnamed = (name: string, text: string) => sent(name, text, '; filename=""', type);

  test('and no bytes is a file input without a file, so it is left out', async () => {
    const image = sent('scans', 'a', '; filename="a.png"', 'image/png');
    const form = unnamed('photo', '') + unnamed('scans', '') + image + END;
    expect(await read(form)).toEqual({ scans: [['a.png', 'image/png', 'a']] });
    expect(await read(unnamed('scans', '') + END)).toEqual({});
  });

  test('and bytes is a file', async () => {
    expect(await read(unnamed('upload', 'a') + END)).toEqual({ upload: ['', type, 'a'] });
    await expect(read(unnamed('photo', 'a') + END)).rejects.toMatchObject({ status: 415 });
  });
});

describe('a part with declared media types', () => {
  interface Sent {
    readonly filename?: string;
    readonly type?: string;
  }

  const send = (name: string, { filename, type }: Sent) => {
    const suffix = filename === undefined ? '' : `; filename="${filename}"`;
    return read(sent(name, '{}', suffix, type) + END);
  };

  test.each<[name: string, file: Sent, value: unknown]>([
    ['photo', { filename: 'a.png', type: 'image/png' }, 'image/png'],
    ['photo', { filename: 'a.jpg', type: 'image/jpeg; q=1' }, 'image/jpeg'],
    ['scans', { filename: 'a.webp', type: 'image/webp' }, 'image/webp'],
    ['any', { filename: 'a.bin', type: 'application/octet-stream' }, 'application/octet-stream'],
    ['meta', {}, {}],
    ['meta', { filename: 'blob', type: 'application/json; charset=utf-8' }, {}],
    ['note', { type: 'text/csv' }, '{}'],
    ['undeclared', { filename: 'a.txt', type: 'text/plain' }, 'text/plain'],
  ])('is accepted: %s with %j', async (name, file, value) => {
    const field = (await send(name, file))[name];
    // A file is a list of its name, its type and its content.
    const [item] = name === 'scans' ? field : [field];
    expect(Array.isArray(item) ? item[1] : item).toEqual(value);
  });

  test.each<[name: string, file: Sent, status: number, message: string]>([
    [
      'photo',
      { filename: 'a.html', type: 'text/html' },
      415,
      'must be image/png or image/jpeg (RFC 7578 §4.4)',
    ],
    ['scans', { filename: 'a.pdf', type: 'application/pdf' }, 415, 'must be image/*'],
    ['note', { type: 'text/html' }, 415, 'must be text/csv'],
    ['photo', {}, 400, 'must be a file, with a filename'],
    ['scans', {}, 400, 'must be a file, with a filename'],
  ])('is rejected: %s with %j', async (name, file, status, message) => {
    // The client may have chosen the name, so the reason for the log leaves it out.
    await expect(send(name, file)).rejects.toMatchObject({
      status,
      message: expect.stringContaining(`the part "${name}" of the body ${message}`),
      reason: expect.stringContaining(`a part of the body ${message}`),
    });
  });
});

test('a text is in the charset that its part names', async () => {
  const textIn = (charset: string, bytes: string) =>
    read(sent('other', bytes, '', `text/plain; charset="${charset}"`) + END);
  const texts = [
    ['UTF-8', '\xef\xbb\xbfa', '\uFEFFa'],
    ['us-ascii', 'a', 'a'],
    ['ISO-8859-1', '\xf6', 'ö'],
    ['utf-16le', 'a\0', 'a'],
  ] as const;
  for (const [charset, bytes, other] of texts)
    expect(await textIn(charset, bytes)).toEqual({ other });
  for (const charset of ['foo', 'utf-7', ''])
    await expect(textIn(charset, 'a')).rejects.toMatchObject({
      status: 415,
      message: 'the part "other" of the body must have a known charset, such as utf-8',
      reason: 'a part of the body must have a known charset, such as utf-8',
    });
  for (const [charset, bytes] of [
    ['UTF-8', '\xff'],
    ['UTF-16LE', 'a'],
  ] as const)
    await expect(textIn(charset, bytes)).rejects.toMatchObject({
      status: 400,
      message: `texts and names in the body must be ${charset}`,
    });
});

test('a form has at most 1000 parts', async () => {
  const parts = (count: number) => sent('a', '1').repeat(count) + END;
  expect((await read(parts(1000))).a).toHaveLength(1000);
  await expect(read(parts(1001))).rejects.toMatchObject({
    status: 413,
    message: 'the body must have at most 1000 parts',
  });
});

describe('a form that is written', () => {
  const write = async (fields: object, written: FormEncoding = {}) => {
    const contentType = coder.contentType(format.type);
    const message = { format: { type: format.type, encoding: written }, contentType };
    const headers = { 'Content-Type': contentType };
    const form = await new Response(coder.write(fields, message), { headers }).formData();
    const entries = [...form].map(async ([name, value]) => [name, await described(value)]);
    return Promise.all(entries);
  };
  const named = new File(['a'], 'a"b.txt');
  const typed = new File(['b'], 'b', { type: 'text/csv' });

  test.each<[declared: string | undefined, type: string, textType: string]>([
    ['image/png', 'image/png', 'image/png'],
    [undefined, 'application/octet-stream', 'text/plain'],
    ['image/*', 'application/octet-stream', 'image/*'],
    ['image/png, image/jpeg', 'application/octet-stream', 'image/png, image/jpeg'],
  ])('with the type %s has files of %s, and texts of %s', async (contentType, type, textType) => {
    const fields = { files: [named, new Blob(['c']), typed, 'd'], file: typed };
    const written: FormEncoding = contentType === undefined ? {} : { files: { contentType } };
    expect(await write(fields, written)).toEqual([
      ['files', ['a"b.txt', type, 'a']],
      ['files', ['blob', type, 'c']],
      ['files', ['b', 'text/csv', 'b']],
      ['files', ['blob', textType, 'd']],
      ['file', ['b', 'text/csv', 'b']],
    ]);
  });
});
