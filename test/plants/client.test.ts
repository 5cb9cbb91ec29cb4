import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { type Client, clientOf, routesOf } from 'openapi-document/client';
import type { operations } from '../../generated/openapi.ts';
import { PROJECT } from '../support/launch.ts';
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
