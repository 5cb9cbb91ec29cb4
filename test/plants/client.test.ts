import { afterAll, beforeAll, expect, test } from '@jest/globals';
import createClient from 'openapi-fetch';
import type { paths } from '../../generated/openapi.ts';
import { exactIntegers } from '../../packages/spec-first/templates/client/exact-integers.ts';
import { type Running, runPlants } from './support/plants.ts';

let service: Running;

beforeAll(async () => {
  service = await runPlants();
});
afterAll(() => service.stop());

const client = (token = service.token) =>
  createClient<paths>({ baseUrl: service.url, headers: { Authorization: `Bearer ${token}` } });

test('a typed call has typed data', async () => {
  const { data, error, response } = await client().POST('/plants', {
    body: { id: 1, name: 'Monstera', tag: 'indoor' },
  });
  expect(response.status).toBe(200);
  expect(error).toBeUndefined();
  const name: string | undefined = data?.name;
  expect(name).toBe('Monstera');
});

test('a failure has a typed error', async () => {
  const { data, error } = await client('wrong').POST('/plants', { body: { id: 1, name: 'Monstera' } });
  expect(data).toBeUndefined();
  const code: number | undefined = error?.error;
  const message: string | undefined = error?.message;
  expect([code, message]).toEqual([401, expect.any(String)]);
});

test('a body without a required property does not compile, and is rejected', async () => {
  // @ts-expect-error name is required
  const { error } = await client().POST('/plants', { body: { id: 1 } });
  expect(error).toEqual({ error: 400, message: expect.stringContaining('/body/name') });
});

test('an id beyond what a number holds goes through as a bigint', async () => {
  const post = (id: bigint, name: string) => client().POST('/plants', { body: { id, name }, ...exactIntegers });
  expect((await post(9007199254740992n, 'even')).response.status).toBe(200);
  expect((await post(9007199254740993n, 'odd')).response.status).toBe(200);
});
