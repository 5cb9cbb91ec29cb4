import { describe, expect, test } from '@jest/globals';
import { resolver } from '../../src/source/resolver.ts';

function resolverFor(files: Readonly<Record<string, unknown>>) {
  const reads = new Set<string>();
  const resolved = resolver((file) => {
    reads.add(file);
    return Object.hasOwn(files, file) ? { value: files[file] } : { reason: 'missing' };
  });
  const target = (ref: string, file = 'api/openapi.yaml', pointer = '') => {
    const location = resolved.targetLocation(ref, { file, pointer });
    return location && `${location.file}#${location.pointer}`;
  };
  return { ...resolved, target, reads };
}

test.each([
  ['#/a', 'api/openapi.yaml#/a'],
  ['#none', 'api/openapi.yaml#none'],
  ['#/a%20b~1c', 'api/openapi.yaml#/a b~1c'],
  ['./sub/../parts.yaml#/a', 'api/parts.yaml#/a'],
  ['../my%20parts.yaml#/a', 'my parts.yaml#/a'],
  ['./parts:1.yaml', 'api/parts:1.yaml#'],
  ['C:/parts.yaml', 'api/C:/parts.yaml#'],
])('the reference %j leads to %s', (ref, expected) => {
  expect(resolverFor({ 'api/openapi.yaml': { a: 1 } }).target(ref)).toBe(expected);
});

test.each(['https://example.com/parts.yaml', 'file:parts.yaml', 'http://['])(
  'the reference %j leads to no file',
  (ref) => {
    expect(resolverFor({ 'api/openapi.yaml': { a: 1 } }).target(ref)).toBeUndefined();
  },
);

test('a file is read at its first reference, and its schemas are registered once', () => {
  const { target, reads, dynamicAnchors } = resolverFor({
    'api/openapi.yaml': { a: { $dynamicAnchor: 'node' }, b: [{ $dynamicAnchor: 'node' }] },
    'api/parts.yaml': { c: { $dynamicAnchor: 'other' } },
    'api/unused.yaml': {},
  });
  for (const _ of [1, 2]) target('parts.yaml#other');
  expect([...reads]).toEqual(['api/openapi.yaml', 'api/parts.yaml']);
  expect([...dynamicAnchors]).toEqual([
    ['node', 2],
    ['other', 1],
  ]);
});

describe('anchors', () => {
  const words = ['default', 'example', 'examples', 'const', 'enum'];
  const anchors = (at: string) =>
    Object.fromEntries(words.map((word) => [word, { $anchor: `${at}-${word}` }]));
  const { target } = resolverFor({
    'api/openapi.yaml': {
      schemas: anchors('schemas'),
      S: { $defs: anchors('defs'), properties: anchors('properties') },
      responses: anchors('responses'),
      'a/b': [{ $anchor: 'item' }, { $dynamicAnchor: 'dynamic' }],
    },
    'api/parts.yaml': { a: { $anchor: 'part' } },
  });

  test('lead to their schemas', () => {
    expect(target('#item')).toBe('api/openapi.yaml#/a~1b/0');
    expect(target('#dynamic')).toBe('api/openapi.yaml#/a~1b/1');
    expect(target('parts.yaml#part')).toBe('api/parts.yaml#/a');
  });

  test.each(words)('are found in parts named %s', (word) => {
    expect(target(`#schemas-${word}`)).toBe(`api/openapi.yaml#/schemas/${word}`);
    expect(target(`#defs-${word}`)).toBe(`api/openapi.yaml#/S/$defs/${word}`);
    expect(target(`#properties-${word}`)).toBe(`api/openapi.yaml#/S/properties/${word}`);
    expect(target(`#responses-${word}`)).toBe(`api/openapi.yaml#/responses/${word}`);
  });
});

describe('with $id in a schema', () => {
  const tree = {
    $id: 'https://example.com/tree#',
    $defs: { leaf: { $id: 'leaf' }, top: { $anchor: 'top' } },
  };
  const { target } = resolverFor({
    'api/openapi.yaml': { Tree: tree, other: { $anchor: 'top' }, broken: { $id: 'http://' } },
    'api/leaf': 'text',
  });

  test.each([
    ['https://example.com/tree', '', '/Tree'],
    ['https://example.com/leaf', '', '/Tree/$defs/leaf'],
    ['https://example.com/tree#top', '', '/Tree/$defs/top'],
    ['#top', '', '/other'],
    ['#top', '/Tree/$defs/top', '/Tree/$defs/top'],
    ['#/$defs/top', '/Tree/items', '/Tree/$defs/top'],
    ['leaf', '/Tree/items', '/Tree/$defs/leaf'],
  ])('%s at %j leads to %s', (ref, pointer, expected) => {
    expect(target(ref, 'api/openapi.yaml', pointer)).toBe(`api/openapi.yaml#${expected}`);
  });

  test('the URI may have no path, or be relative to the file', () => {
    const files = {
      'api/openapi.yaml': {
        Tree: { $id: 'urn:example:tree', top: { $anchor: 'top' } },
        Leaf: { $id: 'leaf.json' },
      },
    };
    const { target: targetOf } = resolverFor(files);
    expect(targetOf('#top', 'api/openapi.yaml', '/Tree/items')).toBe('api/openapi.yaml#/Tree/top');
    expect(targetOf('urn:example:tree')).toBe('api/openapi.yaml#/Tree');
    expect(targetOf('leaf.json')).toBe('api/openapi.yaml#/Leaf');
    expect(targetOf('https://example.com/other')).toBeUndefined();
  });

  test('references outside the schema are relative to the file', () => {
    expect(target('leaf')).toBe('api/leaf#');
    expect(target('leaf', 'api/openapi.yaml', '/Trees')).toBe('api/leaf#');
  });
});

describe('with $self', () => {
  const { target } = resolverFor({
    'local/openapi.yaml': { $self: 'https://example.com/apis/openapi.yaml', $id: 'other', a: {} },
    'local/sub/parts.yaml': { a: {} },
  });

  test.each([
    ['https://example.com/apis/openapi.yaml#/a', 'local/openapi.yaml#/a'],
    ['https://example.com/apis/sub/parts.yaml#/a', 'local/sub/parts.yaml#/a'],
  ])('%s leads to %s', (ref, expected) => {
    expect(target(ref, 'local/openapi.yaml')).toBe(expected);
  });

  test.each([
    'https://example.org/apis/parts.yaml',
    'http://example.com/apis/parts.yaml',
    'urn:example:parts',
  ])('%s leads to no file', (ref) => {
    expect(target(ref, 'local/openapi.yaml')).toBeUndefined();
  });
});
