import { expect, test } from '@jest/globals';
import { mediaTypeFor } from '../../src/document/media.ts';
import { documentOf, only } from '../support/operations.ts';

test.each([
  ['application/json', 'application/json'],
  ['Application/JSON; charset=UTF-8', 'application/json'],
  ['application/json;charset="utf-8"; version=2', 'application/json; version=2'],
  ['application/json; version="2"', 'application/json; version=2'],
  ['application/json ;version=2', 'application/json; version=2'],
  ['application/json; version=3', 'application/json'],
  ['text/csv; header="present"', 'text/csv;header="present"'],
  ['text/csv; header=present', 'text/csv;header="present"'],
  ['text/csv', 'text/*'],
  ['text/plain', 'text/*'],
  ['image/png', '*/*'],
])('a body of %s has the declared media type %s', async (contentType, declared) => {
  const types = ['*/*', 'text/*', 'text/csv;header="present"'];
  const jsonTypes = ['application/json', 'application/json; version=2'];
  const content = Object.fromEntries([...types, ...jsonTypes].map((type) => [type, {}]));
  const { operations } = await documentOf({ '/a': { post: { requestBody: { content } } } });
  const media = only(operations).requestBody?.media ?? [];
  expect(mediaTypeFor(media, contentType)?.type).toBe(declared);
  expect(mediaTypeFor(media.slice(1, 2), 'application/json')).toBeUndefined();
});
