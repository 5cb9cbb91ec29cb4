import { expect, test } from '@jest/globals';
import { astToString, STRING } from 'openapi-typescript';
import { annotationsOf, memberOf } from '../src/type-nodes.ts';

type Options = Parameters<typeof memberOf>[2];

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
  ['name', { source: {} }, 'name: string;'],
  ['name', { source: {}, isOptional: true }, 'name?: string;'],
  ['full name', { source: { maxLength: 5 } }, '"full name": string;'],
  ['name', { source: { description: 'A name.' } }, '/** @description A name. */\nname: string;'],
  [
    'name',
    { source: {}, line: 'openapi.yaml:3' },
    '/**\n * @see openapi.yaml:3\n */\nname: string;',
  ],
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
  expect(astToString(memberOf(name, STRING, options)).trim()).toBe(text);
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
