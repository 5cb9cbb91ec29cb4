import { beforeAll, describe, expect, test } from '@jest/globals';
import { documentFile, serve } from '../../../test/support/documents.ts';

let client: Awaited<ReturnType<typeof serve>>['client'];
beforeAll(async () => {
  ({ client } = await serve(documentFile('costly.yaml'), { costly: () => ({ status: 204 }) }, { bodyLimit: 500_000 }));
});
const post = (body: object, query = '') => client.post(`/costly${query}`).send(body);

describe('a request whose validation would block others', () => {
  test.each<[string, object]>([
    ['a cubic pattern', { email: '@'.repeat(100_000) }],
    ['a quadratic pattern', { word: 'ab'.repeat(100_000) }],
    ['an exponential pattern', { group: `${'a'.repeat(40)}b` }],
    ['an exponential pattern of names', { names: { [`${'a'.repeat(40)}b`]: 'a' } }],
  ])('is rejected in time: %s', async (_what, body) => {
    expect((await post(body).expect(400)).body.message).toBe('the request takes too long to validate');
  });

  test('is rejected in time: an exponential pattern in the query', async () => {
    const response = await post({}, `?q=${'a'.repeat(40)}b`).expect(400);
    expect(response.body.message).toBe('the request takes too long to validate');
  });
});

test('a long value that is quick to validate is accepted, and a wrong one named', async () => {
  await post({ email: `${'a'.repeat(100)}@example.com`, group: 'a'.repeat(10_000) }).expect(204);
  await post({ list: Array.from({ length: 3000 }, () => 1) }).expect(204);
  const response = await post({ list: Array.from({ length: 3000 }, () => 1), word: '' }).expect(400);
  expect(response.body.message).toBe('/body/word must match pattern "^a.*b.*c$"');
});
