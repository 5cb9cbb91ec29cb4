import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { type Client, clientOf, routesOf } from 'openapi-document/client';
import type { operations } from '../../generated/openapi.ts';
import { PROJECT } from '../support/launch.ts';
import { plantsIn } from './support/plant-service.ts';
import { type Running, runPlants } from './support/plants.ts';

const folder = mkdtempSync(join(tmpdir(), 'client-'));
const file = join(folder, 'plants.db');
let service: Running;
let client: (token?: string) => Client<operations>;

beforeAll(async () => {
  service = await runPlants({ DATABASE_URL: `sqlite:${file}` });
  const document = await loadDocument(join(PROJECT, 'openapi.yaml'));
  const routes = routesOf<keyof operations>(document.operations);
  client = (token = service.token) =>
    clientOf<operations>(routes, {
      baseUrl: service.url,
      headers: { Authorization: `Bearer ${token}` },
    });
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

test('a typed call has a typed reply', async () => {
  const reply = await client().createPlant({ body: { id: 1, name: 'Monstera', tag: 'indoor' } });
  if (reply.status !== 200) throw new Error(reply.body.message);
  const name: string = reply.body.name;
  expect(name).toBe('Monstera');
  expect(reply.response.url).toBe(`${service.url}/plants`);
});

test('an error response has a typed body', async () => {
  const reply = await client('wrong').createPlant({ body: { id: 1, name: 'Monstera' } });
  if (reply.status === 200) throw new Error('a wrong token is accepted');
  const { error, message }: { error: number; message: string } = reply.body;
  expect([error, message]).toEqual([401, expect.any(String)]);
});

test('a body without a required property does not compile, and is rejected', async () => {
  // @ts-expect-error name is required
  const { body } = await client().createPlant({ body: { id: 1 } });
  expect(body).toEqual({ error: 400, message: expect.stringContaining('/body/name') });
});

test('an id beyond 2^53 is stored exactly if it is passed as a bigint', async () => {
  const id = 9007199254740993n;
  expect((await client().createPlant({ body: { id, name: 'Fern' } })).status).toBe(200);
  expect(plantsIn(file).get(id)).toEqual({ name: 'Fern', tag: null });
});
