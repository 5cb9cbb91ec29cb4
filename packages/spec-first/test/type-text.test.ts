import { expect, test } from '@jest/globals';
import type { Annotations } from 'openapi-document';
import { memberOf } from '../src/type-text.ts';

const ALL: Annotations = {
  title: 'Title',
  description: 'First.\n\n@home Of */ a plant.\n',
  isDeprecated: true,
  limits: [
    ['format', 'name'],
    ['maxLength', 5],
    ['maximum', 2n ** 63n],
  ],
  default: { value: { large: 9007199254740993n } },
  examples: ['one', [3n]],
};

test.each<[name: string, options: Parameters<typeof memberOf>[2], text: string]>([
  ['name', {}, 'name: string;'],
  ['größe', {}, 'größe: string;'],
  ['200', {}, '200: string;'],
  ['4XX', {}, '"4XX": string;'],
  ['name', { isOptional: true }, 'name?: string;'],
  ['name', { annotations: { description: 'A name.' } }, '/** A name. */\nname: string;'],
  ['name', { annotations: { description: ' \n' } }, 'name: string;'],
  ['name', { line: 'openapi.yaml:3' }, '/** @see openapi.yaml:3 */\nname: string;'],
  [
    'full name',
    { annotations: ALL, line: 'openapi.yaml:3', isOptional: true },
    `/**
 * Title
 *
 * First.
 *
 * \\@home Of *\\/ a plant.
 * @deprecated
 * @format name
 * @maxLength 5
 * @maximum 9223372036854775808
 * @default {
 *   "large": 9007199254740993
 * }
 * @example one
 * @example [
 *   3
 * ]
 * @see openapi.yaml:3
 */
"full name"?: string;`,
  ],
])('writes the member %s with %j', (name, options, text) => {
  expect(memberOf(name, 'string', options)).toBe(text);
});
