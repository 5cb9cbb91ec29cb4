import { describe, expect, test } from '@jest/globals';
import { withText } from 'test-support/titles';
import {
  allOfSchemas,
  alternatives,
  finderIn,
  isWide,
  itemSchemas,
  itemsIn,
  matchesName,
  patternDegree,
  patternEngine,
  patternOf,
  propertySchemas,
  shapeOf,
  translate,
  typesOf,
} from '../../src/document/schema.ts';

const titled = (title: string) => ({ title });
const titles = (schemas: readonly unknown[]) => schemas.map((schema) => Object(schema).title);

describe('the schemas of one value', () => {
  const root = {
    A: { title: 'A', allOf: [{ $ref: '#/B' }, titled('inline'), true] },
    B: { title: 'B', $ref: '#/C', anyOf: [titled('any')] },
    C: { title: 'C', allOf: [{ $ref: '#/A' }] },
  };

  test('are a schema, its references and their allOf, each once', () => {
    expect(titles(allOfSchemas(root, { title: 'top', $ref: '#/A' }))).toEqual([
      'top',
      'A',
      undefined,
      'B',
      'C',
      undefined,
      'inline',
    ]);
  });

  test('include the alternatives', () => {
    const schema = {
      title: 'top',
      anyOf: [titled('any'), { title: 'nested', oneOf: [titled('inner')] }],
      oneOf: [titled('one'), true],
      if: titled('if'),
      ...JSON.parse('{ "then": { "title": "then" } }'),
      else: titled('else'),
      not: titled('not'),
      items: titled('item'),
    };
    expect(titles(alternatives(root, schema))).toEqual([
      'top',
      'any',
      'nested',
      'inner',
      'one',
      'then',
      'else',
    ]);
    expect(titles(alternatives(root, { $ref: '#/B' }))).toContain('any');
  });

  test.each([undefined, true, null, 'text', { $ref: '#/none' }])(
    'of %j do not include other schemas',
    (schema) => {
      expect(alternatives(root, schema)).toHaveLength(Number(Object(schema) === schema));
    },
  );
});

test.each(
  withText<unknown, [types: readonly string[]]>([
    [{}, []],
    [{ type: 'string' }, ['string']],
    [{ type: ['string', 'null', 5] }, ['string', 'null']],
    [
      { enum: ['a', 1, 1.5, 2n, true, null, [], {}] },
      'string integer number boolean null array object'.split(' '),
    ],
    [{ const: null, enum: ['a'] }, ['null']],
    [{ type: 'string', enum: [1] }, ['string']],
    [{ items: {} }, ['array']],
    [{ prefixItems: [] }, ['array']],
    [{ properties: {} }, ['object']],
    [{ anyOf: [{ type: 'string' }, { $ref: '#/A' }] }, ['string', 'integer']],
  ]),
)('the types of %s are %j', (_text, types, schema) => {
  expect([...typesOf({ A: { type: 'integer' } }, schema)]).toEqual(types);
});

test.each<[schema: unknown, shape: string]>([
  [{}, 'text'],
  [{ type: 'null' }, 'text'],
  [{ type: 'array' }, 'array'],
  [{ type: ['object', 'null'] }, 'object'],
  [{ type: ['array', 'object'] }, 'array'],
  [{ type: ['array', 'string'] }, 'text'],
  [{ type: ['object', 'number'] }, 'text'],
  [{ type: ['array', 'integer'] }, 'text'],
  [{ type: ['array', 'boolean'] }, 'text'],
])('the shape of %j is %s', (schema, shape) => {
  expect(shapeOf({}, schema)).toBe(shape);
});

test.each(
  withText<Readonly<Record<string, unknown>>, [isWide: boolean]>([
    [{ type: 'integer', format: 'int64' }, true],
    [{ enum: [1, 2n] }, true],
    [{ const: 2n }, true],
    [{ default: 2n }, true],
    [{ minimum: 2n }, true],
    [{ maximum: 2n }, true],
    [{ exclusiveMinimum: 2n }, true],
    [{ exclusiveMaximum: 2n }, true],
    [{ type: 'integer', format: 'int32', maximum: 2 }, false],
  ]),
)('the schema %s allows integers beyond 2^53: %p', (_text, wide, schema) => {
  expect(isWide(schema)).toBe(wide);
});

test.each([[['a', 'named']], [['x1', 'digit', 'x']], [['y', 'other']], [['constructor', 'other']]])(
  'the schemas of a property are those that match its name: %j',
  ([name = '', ...expected]) => {
    const schema = {
      properties: { a: titled('named') },
      patternProperties: { '\\d': titled('digit'), '^x': titled('x') },
      additionalProperties: titled('other'),
    };
    expect(titles(propertySchemas({}, schema, name))).toEqual(expected);
  },
);

test('a property has the schemas of each part of a schema', () => {
  const find = finderIn([
    { properties: { a: titled('first') } },
    { unevaluatedProperties: titled('second') },
    {},
  ]);
  expect(titles(find('a'))).toEqual(['first', 'second']);
  expect(titles(find('b'))).toEqual(['second']);
  const findInTwo = finderIn([
    { additionalProperties: titled('first') },
    { properties: { a: titled('second') } },
  ]);
  expect(titles(findInTwo('a'))).toEqual(['first', 'second']);
  expect(finderIn([])('a')).toEqual([]);
});

test.each([
  [0, ['first', 'item', 'rest']],
  [1, ['rest', 'item', 'rest']],
])('the schemas of the item %d are %j', (index, expected) => {
  const rest = titled('rest');
  const parts = [
    { prefixItems: [titled('first')], items: rest },
    { items: titled('item'), unevaluatedItems: titled('unused') },
    { unevaluatedItems: rest },
  ];
  expect(titles(itemsIn(parts, index))).toEqual(expected);
  expect(titles(itemSchemas({}, { allOf: parts }, index))).toEqual([undefined, ...expected]);
});

test.each([
  ['^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', 1],
  ['^(foo|bar)?[a-z]*$', 1],
  ['^(?:ab)+$', 1],
  ['^(?<word>ab)+$', 1],
  ['^\\(a*\\)+$', 2],
  ['^[(a*)+]$', 1],
  ['a', 1],
  ['[a-z]*$', 2],
  ['^a{2,}b{2,5}$', 1],
  ['a{2,}', 2],
  ['^a.*b.*c$', 2],
  ['^(a+)+$', 64],
  ['^(a+){2}$', 64],
  ['^((a*)b)*$', 64],
  ['^(a|b|ab)*$', 64],
  ['^(a?){24}a{24}$', 64],
  [`^${'a?'.repeat(10)}$`, 1],
  [`^${'a?'.repeat(11)}$`, 64],
  ['^a+b|^c+d', 2],
  ['^$|a+b', 2],
  ['^-|[a-z]+!', 2],
  ['^(?:a|b+)c', 1],
  ['(?m)^a+b', 2],
  ['^(?m)a+b', 2],
  ['(?m:^a+b)', 2],
  ['^(.*)\\1$', 2],
  ['^(?<q>.*)\\k<q>$', 2],
  ['^(?:\\1|b)+(a)', 64],
  ['^\\\\1a+$', 1],
  ['^[a-z0-9]{1,63}$', 1],
  ['^.{0,999}a.{0,999}b.{0,999}c$', 3],
  ['[a-z]{1,63}!', 2],
  ['[a-z]{255}!', 2],
  ['([a-z]{255})!', 2],
  ['[a-z]{60,63}!', 2],
  ['[a-z]{16}!', 1],
  ['^[a-f0-9]{64}$', 1],
  ['^\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}$', 1],
  ['\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}$', 2],
  [`^${'.{0,9}'.repeat(4)}$`, 64],
])('matching %s takes at most length ** %d steps', (pattern, degree) => {
  expect(patternDegree(pattern)).toBe(degree);
});

test('a name is not matched with a pattern that may take long', () => {
  expect(matchesName('a', 'a'.repeat(1_000))).toBe(true);
  expect(matchesName('a*$', 'a'.repeat(1_000))).toBe(true);
  expect(matchesName('a*$', 'a'.repeat(1_001))).toBe(false);
  expect(matchesName('^(a|aa)+$', 'aaaa')).toBe(false);
});

test.each([
  ['(?i)ab', ['ab', 'AB'], ['a']],
  ['^a(?i)b$', ['ab', 'aB', 'Ab'], ['a']],
  ['^(a(?i)b|c)d$', ['aBD', 'Cd', 'cd'], ['ad']],
  ['^(?i)a|b$', ['A', 'xB'], ['C']],
  ['^[(?i)]$', ['(', '?', 'i', ')'], ['I']],
  ['^\\(?i\\)$', ['i)', '(i)'], ['I)']],
])('flags apply to the whole pattern: %s', (pattern, matching, others) => {
  for (const text of matching) expect([text, matchesName(pattern, text)]).toEqual([text, true]);
  for (const text of others) expect([text, matchesName(pattern, text)]).toEqual([text, false]);
});

test.each([
  ['\\Aa\\.b\\Z', '^a\\.b$', ''],
  ['a\\z', 'a$', ''],
  ['(?P<year>\\d+)', '(?<year>\\d+)', ''],
  ['((?P<a>(?i)b)|c)', '((?<a>b)|c)', 'i'],
  ['(?i)(a)b', '(a)b', 'i'],
  ['(?i)(?P<a>b)c', '(?<a>b)c', 'i'],
  ['a(?ims)b(?i)c', 'abc', 'ims'],
  ['[(?P<\\]]', '[(?P<\\]]', ''],
  ['\\\\A', '\\\\A', ''],
  ['a\n.', 'a\n.', ''],
])('the pattern %j is translated to %j with the flags "%s"', (pattern, source, flags) => {
  expect(translate(pattern)).toEqual({ source, flags });
});

test.each([
  ['^\\p{L}$', 'u', ['é', '𝒳'], ['1', 'ab']],
  ['^\\-$', '', ['-'], ['\\-']],
])('the pattern %s is compiled with the flags %j', (source, flags, matching, others) => {
  const expression = patternOf(source);
  expect(expression.flags).toBe(flags);
  expect(matching.filter((text) => !expression.test(text))).toEqual([]);
  expect(others.filter((text) => expression.test(text))).toEqual([]);
  expect(patternEngine(source)).toEqual(expression);
});

test('an invalid pattern is an error', () => {
  expect(() => patternOf('(')).toThrow(SyntaxError);
});
