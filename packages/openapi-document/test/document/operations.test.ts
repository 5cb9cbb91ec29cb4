import { expect, test } from '@jest/globals';
import { declaredFor } from '../../src/document/operations.ts';
import { documentOf, only } from '../support/operations.ts';

test.each([
  [['default', '4XX', '404'], { 404: '404', 403: '4XX', 500: 'default' }],
  [['404', '4xx', '5XX'], { 404: '404', 499: '4xx', 500: '5XX', 599: '5XX', 200: undefined }],
  [['2XX'], { 200: '2XX', 299: '2XX', 300: undefined, 199: undefined }],
])('of the responses %j, each status has the most specific', async (keys, expected) => {
  const described = Object.fromEntries(keys.map((key) => [key, { description: key }]));
  const { operations } = await documentOf({ '/a': { get: { responses: described } } });
  const found = Object.keys(expected).map((status) => [
    status,
    declaredFor(only(operations), Number(status))?.key,
  ]);
  expect(Object.fromEntries(found)).toEqual(expected);
});
