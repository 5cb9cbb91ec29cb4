import { expect, test } from '@jest/globals';
import {
  annotationsOf,
  commentOf,
  formatted,
  grouped,
  intersection,
  memberOf,
  objectOf,
  union,
} from '../src/type-text.ts';

type Options = Parameters<typeof memberOf>[2];

test('unions and intersections inside others have parentheses', () => {
  const both = intersection([union(['a', 'b', 'a']), 'unknown', 'c']);
  expect([union([]), union(['a', 'a']), intersection([]), intersection(['a', 'unknown'])]).toEqual([
    'never',
    'a',
    'unknown',
    'a',
  ]);
  expect(formatted(`type A = ${union([both, 'd'])}`)).toBe('type A = ((a | b) & c) | d;\n');
  expect(formatted(`type A = ${grouped(both)}[]`)).toBe('type A = ((a | b) & c)[];\n');
  expect(grouped('a')).toBe('a');
});

test('declarations are formatted, with the comments of members', () => {
  const source = { title: 'First', description: 'Second' };
  const inner = objectOf([memberOf('b', 'string', { source })]);
  expect(formatted(`export type A = ${objectOf([memberOf('a', inner, { source })])};`)).toBe(
    `export type A = {
    /**
     * First
     * @description Second
     */
    a: {
        /**
         * First
         * @description Second
         */
        b: string;
    };
};
`,
  );
});

test('a comment cannot contain a reference to a type', () => {
  expect(commentOf({ source: { title: 'a \0plain A\0' } })).toBe('/** a plain A */\n');
});

const TEXTS = { title: 'Title', summary: 'Summary', description: 'First.\n\nOf */ a plant.\n' };

const ALL = {
  ...TEXTS,
  deprecated: true,
  format: 'name',
  type: 'string',
  enum: ['a'],
  const: 'a',
  default: { large: 9007199254740993n },
  example: 'one',
  examples: ['two', [3n]],
  maxLength: 5,
  required: ['a'],
};

test.each<[name: string, options: Options, text: string]>([
  ['name', {}, 'name: string;'],
  ['größe', {}, 'größe: string;'],
  ['name', { isOptional: true }, 'name?: string;'],
  ['full name', { source: { maxLength: 5 } }, '"full name": string;'],
  ['name', { source: { description: 'A name.' } }, '/** @description A name. */\nname: string;'],
  ['name', { line: 'openapi.yaml:3' }, '/**\n * @see openapi.yaml:3\n */\nname: string;'],
  [
    'name',
    { source: { title: '* A name', description: '* long *' }, line: 'openapi.yaml:3' },
    '/**\n * * A name\n * @description * long *\n * @see openapi.yaml:3\n */\nname: string;',
  ],
  [
    'name',
    { source: ALL, line: 'openapi.yaml:3', isOptional: true },
    `/**
 * Title
 * Summary
 * Format: name
 * @deprecated
 * @description First.
 *
 *     Of *\\/ a plant.
 * @default {
 *       "large": 9007199254740993
 *     }
 * @example one
 * @example two
 * @example [
 *       3
 *     ]
 * @constant
 * @enum {string}
 * @see openapi.yaml:3
 */
name?: string;`,
  ],
])('writes the member %s of %j', (name, options, text) => {
  const member = memberOf(name, 'string', options);
  expect(member.replaceAll(/ +$/gm, '')).toBe(text);
});

test.each([
  [{}, { examples: [] }],
  [
    { ...TEXTS, properties: {}, 'x-title': 'No' },
    { ...TEXTS, examples: [] },
  ],
  [
    { default: 5, example: null },
    { default: 5, example: 'null', examples: [] },
  ],
  [
    { enum: [{ a: 1 }], examples: { a: 5 } },
    { enum: [{ a: 1 }], examples: [] },
  ],
])('the annotations of %j are %j', (source, annotations) => {
  expect(annotationsOf(source)).toEqual(annotations);
});
