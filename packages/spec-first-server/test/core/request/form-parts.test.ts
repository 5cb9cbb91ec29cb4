import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { decodedText, formParts } from '../../../src/core/request/form-parts.ts';

const TYPE = 'multipart/form-data; boundary=b';
const A = 'Content-Disposition: form-data; name="a"';
const C = 'Content-Disposition: form-data; name="c"; filename="d"';

async function partsOf(form: string, contentType = TYPE, size = Infinity) {
  async function* chunks() {
    const bytes = Buffer.from(form, 'latin1');
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const parts: object[] = [];
  for await (const { content, ...part } of formParts(contentType, chunks()))
    parts.push({ ...part, text: (await buffer(content)).toString('latin1') });
  return parts;
}

const partWith = async (...headers: string[]) =>
  (await partsOf(`--b\r\n${headers.join('\r\n')}\r\n\r\nx\r\n--b--\r\n`))[0];

const a = { name: 'a', filename: undefined, type: 'text/plain', charset: undefined };
const c = { ...a, name: 'c', filename: 'd' };

test.each([
  ['', `--b\r\n${A}\r\n\r\n1\r\n--b\r\n${C}\r\n\r\n2\r\n--b--\r\n`],
  ['without a line break at the end', `--b\r\n${A}\r\n\r\n1\r\n--b\r\n${C}\r\n\r\n2\r\n--b--`],
  [
    'with spaces after the boundaries',
    `--b \r\n${A}\r\n\r\n1\r\n--b \t\r\n${C}\r\n\r\n2\r\n--b-- \r\n`,
  ],
  [
    'with empty lines before and after',
    `\r\n\r\n--b\r\n${A}\r\n\r\n1\r\n--b\r\n${C}\r\n\r\n2\r\n--b--\r\n\r\n`,
  ],
])('the parts of a form %s are read, in chunks of any size', async (_title, form) => {
  const parts = [
    { ...a, text: '1' },
    { ...c, text: '2' },
  ];
  for (const size of [1, 2, 3, 7, 20, 1000]) expect(await partsOf(form, TYPE, size)).toEqual(parts);
});

test.each([
  ['multipart/form-data; boundary="(b:b)"', '(b:b)'],
  ['multipart/form-data; x="; boundary=c"; BOUNDARY=b;', 'b'],
  ['multipart/form-data;boundary=----=_Part_1; charset=utf-8', '----=_Part_1'],
  ['multipart/form-data; boundary="a b"', 'a b'],
])('the Content-Type %s has the boundary %s', async (type, boundary) => {
  const form = `--${boundary}\r\n${A}\r\n\r\n1\r\n--${boundary}--\r\n`;
  expect(await partsOf(form, type)).toEqual([{ ...a, text: '1' }]);
});

test.each(['multipart/form-data', 'multipart/form-data; boundary=""', 'text/plain'])(
  'a form with the Content-Type %s is rejected',
  async (type) => {
    await expect(partsOf('--b--', type)).rejects.toMatchObject({ status: 400 });
  },
);

test.each(['b', '-', '- -', ' x', ':'])(
  'a line that begins with the boundary and continues with "%s" is rejected',
  async (rest) => {
    const form = `--b\r\n${A}\r\n\r\n1\r\n--b${rest}\r\n${C}\r\n\r\n2\r\n--b--\r\n`;
    await expect(partsOf(form)).rejects.toMatchObject({
      status: 400,
      message:
        'only "--" or a line break (CRLF) may follow a boundary in the body (RFC 2046 §5.1.1)',
    });
  },
);

test('a form with a boundary of more than 70 characters is rejected', async () => {
  const read = (boundary: string) =>
    partsOf(`--${boundary}--`, `multipart/form-data; boundary=${boundary}`);
  expect(await read('b'.repeat(70))).toEqual([]);
  await expect(read('b'.repeat(71))).rejects.toMatchObject({ status: 400 });
});

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
  await expect(partsOf(form)).rejects.toMatchObject({
    status: 400,
    message: 'the body must be multipart/form-data (RFC 7578), and begin and end with its boundary',
  });
});

test('a form that FormData writes is read, with any name, filename and text', async () => {
  const escaped = (text: string) => text.replaceAll('"', '%22').replace('\r\n', '%0D%0A');
  const texts = ['\\', 'a\\', '"', ';', 'a; b="c', '😀', '\r\n--', '%22', ' x '];
  for (const name of texts)
    for (const filename of texts) {
      const form = new FormData();
      form.append(name, new Blob([name]), filename);
      const response = new Response(form);
      const type = response.headers.get('content-type') ?? '';
      const [part] = await partsOf(Buffer.from(await response.bytes()).toString('latin1'), type);
      expect(part).toMatchObject({
        name: escaped(name),
        filename: escaped(filename).replace(/\\$/, '') || '_',
        text: Buffer.from(name).toString('latin1'),
      });
    }
});

test('a form that is cut off is rejected', async () => {
  const form = `--b\r\n${A}\r\n\r\n1\r\n--b--`;
  for (let length = 0; length < form.length; length += 1)
    await expect(partsOf(form.slice(0, length))).rejects.toMatchObject({ status: 400 });
});

describe('the headers of a part', () => {
  test.each<[string[], object]>([
    [['content-disposition:Form-Data;name=a'], {}],
    [
      [A, 'X-A: b', 'Content-Type: Text/CSV; Charset="UTF-8"'],
      { type: 'text/csv', charset: 'UTF-8' },
    ],
    [['Content-Disposition: form-data;', '\tname="a"'], {}],
    [[`${A}; filename=""`], { filename: '' }],
    [[`${A}; filename="a\\"b\\\\c.txt"`], { filename: 'c.txt' }],
    [[`${A}; filename="a\\b;c=.txt"`], { filename: 'b;c=.txt' }],
    [[`${A}; filename="/etc/../passwd"`], { filename: 'passwd' }],
    [[`${A}; filename=".."`], { filename: '_' }],
    [[`${A}; filename="/"`], { filename: '_' }],
    [[`${A}; filename="folder/"`], { filename: 'folder' }],
    [[A, 'Content-Transfer-Encoding: 8BIT'], {}],
    [[`${A}; filename="gr\xc3\xb6\xc3\x9fe"`], { filename: 'größe' }],
    [[`${A}; filename=x; filename*=utf-8''gr%C3%B6%C3%9Fe`], { filename: 'größe' }],
    [[`${A}; filename="\xef\xbf\xbd"`], { filename: '\uFFFD' }],
  ])('may be %j', async (headers, part) => {
    expect(await partWith(...headers)).toEqual({ ...a, ...part, text: 'x' });
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
    ['a lone line feed after a colon', [A, 'X:\ny'], valid],
    ['a long line', [A, `X: ${'y'.repeat(16_384)}`], valid],
    ['many lines', [A, ...Array.from({ length: 2000 }, (_, index) => `X-${index}: y`)], valid],
    ['no headers', [], named],
    ['an open quotation mark', ['Content-Disposition: form-data; name="a'], named],
    ['text besides parameters', ['Content-Disposition: form-data; name=a b'], named],
    ['a name that is not UTF-8', ['Content-Disposition: form-data; name="\xff"'], utf8],
    ['a filename in another charset', [`${A}; filename*=iso-8859-1''a`], utf8],
    ['a filename with a broken escape', [`${A}; filename*=utf-8''%zz`], utf8],
  ])('are rejected with %s', async (_title, headers, message) => {
    await expect(partWith(...headers)).rejects.toMatchObject({ status: 400, message });
  });
});

test('the source is closed if the reader stops', async () => {
  let isClosed = false;
  async function* endless() {
    try {
      yield Buffer.from(`--b\r\n${A}\r\n\r\n`);
      for (;;) yield Buffer.from('x');
    } finally {
      isClosed = true;
    }
  }
  for await (const _part of formParts(TYPE, endless())) break;
  expect(isClosed).toBe(true);
});

describe('decodedText', () => {
  test('decodes UTF-8 by default', () => {
    expect(decodedText('a', Buffer.from('\uFFFD ö'))).toBe('\uFFFD ö');
  });

  test.each<[string, string, string]>([
    ['UTF-8', '\xef\xbb\xbfa', '\uFEFFa'],
    ['us-ascii', 'a', 'a'],
    ['ISO-8859-1', '\xf6', 'ö'],
    ['utf-16le', 'a\0', 'a'],
  ])('decodes the charset %s', (charset, bytes, text) => {
    expect(decodedText('a', Buffer.from(bytes, 'latin1'), charset)).toBe(text);
  });

  test.each(['foo', 'utf-7', ''])('rejects the unknown charset "%s"', (charset) => {
    expect(() => decodedText('a', Buffer.from('b'), charset)).toThrow(
      expect.objectContaining({
        status: 415,
        message: `the charset of the part "a" of the body is unknown: "${charset}"; use utf-8`,
        reason: 'the charset of a part of the body is unknown',
      }),
    );
  });

  test.each([
    ['utf-8', '\xff', 'UTF-8'],
    ['utf-16le', 'a', 'UTF-16LE'],
  ])('rejects bytes that are not in the charset %s', (charset, bytes, encoding) => {
    expect(() => decodedText('a', Buffer.from(bytes, 'latin1'), charset)).toThrow(
      expect.objectContaining({
        status: 400,
        message: `texts and names in the body must be ${encoding}`,
      }),
    );
  });
});
