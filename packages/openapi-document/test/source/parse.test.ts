import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { withFiles } from 'test-support/files';
import { describeFindings, originOf, parseFile, positionReader } from '../../src/source/parse.ts';

const parse = (text: string) => parseFile('openapi.yaml', text);

/** Returns `line:column` of each pointer in a file with this text. */
const positionsIn = (text: string, pointers: readonly string[]) =>
  withFiles({ 'openapi.yaml': text }, async (folder) => {
    const file = join(folder, 'openapi.yaml');
    const positions = positionReader()(pointers.map((pointer) => ({ file, pointer })));
    return positions.map((position) => position.slice(file.length + 1));
  });

describe('a file', () => {
  test.each<[title: string, text: string, value: unknown]>([
    ['JSON', '{ "a": [1, null, "b"] }', { a: [1, null, 'b'] }],
    ['JSON with exact integers', '{ "a": 9007199254740993 }', { a: 9007199254740993n }],
    ['JSON with tabs', '{\n\t"a": "\\/"\n}', { a: '/' }],
    ['JSON with a repeated key', '{ "a": 1, "a": 2 }', { a: 2 }],
    ['YAML that begins like JSON', '{ a: 1 }', { a: 1 }],
    [
      'exact integers',
      'a: 9007199254740993\nb: -9007199254740993',
      {
        a: 9007199254740993n,
        b: -9007199254740993n,
      },
    ],
    ['integers up to 2^53', 'a: 9007199254740991', { a: 9007199254740991 }],
    ['numbers beyond 2^53 with a fraction', 'a: 1.5e300', { a: 1.5e300 }],
    ['hexadecimal integers', 'a: 0x10\nb: 0xffffffffffffffff', { a: 16, b: 2 ** 64 }],
    [
      'merge keys',
      'a: &a { b: 1, c: 2 }\nd: { <<: *a, c: 3 }',
      {
        a: { b: 1, c: 2 },
        d: { b: 1, c: 3 },
      },
    ],
    ['words that YAML 1.1 reads as booleans', 'on: no\ny: yes', { on: 'no', y: 'yes' }],
    ['dates as strings', 'a: 2026-11-23', { a: '2026-11-23' }],
    ['a nesting of 500 levels', `a: ${'['.repeat(500)}${']'.repeat(500)}`, expect.anything()],
  ])('may contain %s', (_title, text, value) => {
    expect(parse(text)).toEqual(value);
  });

  test.each<[text: string, message: string | RegExp]>([
    ['a: 1\nb: [', 'openapi.yaml:2:5 '],
    ['{ "a": 1,\n "b" 2 }', 'openapi.yaml:2:'],
    ['a: b: c', 'openapi.yaml:1:5 '],
    ['a:\n  b: c\n   d: e', 'openapi.yaml:3:5 '],
    ['a: [\n]', 'openapi.yaml:2:1 deficient indentation'],
    ['a: 1\na: 2', /^openapi\.yaml:2:1 duplicated mapping key$/],
    ['a: !unknown 1', 'openapi.yaml:1:'],
    [`a: ${'['.repeat(1_001)}${']'.repeat(1_001)}`, 'openapi.yaml:1:'],
  ])('is an error with the text %j', (text, message) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ name: 'DocumentError' }));
    expect(() => parse(text)).toThrow(message);
  });
});

describe('the position', () => {
  const text = [
    '# comment',
    'plain: 1',
    '"quoted": { inner: [a, "b", c] }',
    'list:',
    '  - &alias x',
    "  - 'y'",
    '  - - z',
    '? [complex]',
    ': 1',
    'a/b~c: { é: 1, after: 2 }',
    'block: |',
    '  text',
    'last: 1',
  ].join('\n');

  test.each([
    ['/quoted/inner/1', '3:24'],
    ['/list/0', '5:12'],
    ['/list/1', '6:5'],
    ['/list/2/0', '7:7'],
    ['/a~1b~0c/after', '10:16'],
    ['/last', '13:1'],
    ['', '1:1'],
    ['/list/7/a', '4:1'],
  ])(
    'of %j is that of its key or item, or of the nearest value around it: %s',
    async (pointer, position) => {
      expect(await positionsIn(text, [pointer])).toEqual([position]);
    },
  );

  test('of JSON is that of the key with its quotation mark', async () => {
    const pointers = ['/a', '/a/b/1', '/a/b/2'];
    expect(await positionsIn('{\r\n  "a": { "b": [1, {}, "c"] } }', pointers)).toEqual([
      '2:3',
      '2:19',
      '2:23',
    ]);
  });

  test('names the file of each location', async () => {
    await withFiles({ 'a.yaml': 'x: 1\ny: 2', 'b.yaml': '\nz: 3' }, async (folder) => {
      const [a, b] = ['a.yaml', 'b.yaml'].map((name) => join(folder, name)) as [string, string];
      const locations = [
        { file: a, pointer: '/y' },
        { file: b, pointer: '/z' },
        { file: a, pointer: '/x' },
      ];
      expect(positionReader()(locations)).toEqual([`${a}:2:1`, `${b}:2:1`, `${a}:1:1`]);
    });
  });
});

describe('findings', () => {
  const describeAll = (findings: Parameters<typeof describeFindings>[0]) =>
    describeFindings(findings, (pointers) => pointers.map((pointer) => `a.yaml:${pointer}`));

  test('are lines in the order of their positions, each once', () => {
    const finding = (pointer: string, message: string) => ({ pointer, message });
    expect(
      describeAll([
        finding('10:1', 'wrong'),
        finding('9:2', 'wrong'),
        finding('9:10', 'wrong'),
        finding('10:1', 'wrong'),
        finding('10:1', 'also wrong'),
      ]),
    ).toBe('a.yaml:9:2 wrong\na.yaml:9:10 wrong\na.yaml:10:1 also wrong\na.yaml:10:1 wrong');
    expect(describeAll([])).toBe('');
  });
});

test.each([
  ['', 'a.yaml', ''],
  ['/paths', 'a.yaml', '/paths'],
  ['/paths/~1a', 'b.yaml', '/item'],
  ['/paths/~1a/get/x', 'b.yaml', '/item/get/x'],
  ['/paths/~1a/get/responses/200', 'c.yaml', '/200'],
  ['/paths/~1ab', 'a.yaml', '/paths/~1ab'],
  ['/ref/get', 'b.yaml', '/item/get'],
])('the part %j of a bundled document comes from %s#%s', (pointer, file, origin) => {
  const root = { paths: { '/a': { get: {} } }, ref: { $ref: '#/paths/~1a' } };
  const origins = new Map([
    ['/paths/~1a', { file: 'b.yaml', pointer: '/item' }],
    ['/paths/~1a/get/responses', { file: 'c.yaml', pointer: '' }],
  ]);
  expect(originOf('a.yaml', root, origins, pointer)).toEqual({ file, pointer: origin });
});

describe('aliases', () => {
  const list = (item: string, length: number) =>
    `[${Array.from({ length }, () => item).join(', ')}]`;

  test('may repeat up to 100,000 lists', () => {
    expect(parse(`a: &a []\nb: ${list('*a', 100_000)}`)).toHaveProperty('b.length', 100_000);
  });

  test.each([
    ['that repeat more lists', `a: &a []\nb: ${list('*a', 100_001)}`],
    [
      'that repeat each other',
      `a: &a ${list('{}', 99)}\nb: &b ${list('*a', 99)}\nc: ${list('*b', 99)}`,
    ],
    ['that contain themselves', 'a: &a [*a]'],
  ])('%s are an error', (_title, text) => {
    expect(() => parse(text)).toThrow(
      'openapi.yaml:1:1 aliases repeat more than 100000 lists and mappings: use fewer aliases',
    );
  });
});
