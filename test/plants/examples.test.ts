import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Unavailable } from 'group-commit';
import { parse } from 'yaml';
import type { PlantStore } from '../../src/stores/store.ts';
import { type Service, serve, TOKEN } from './support/plant-service.ts';

const { paths, components } = parse(
  readFileSync(join(import.meta.dirname, '../../openapi.yaml'), 'utf8'),
);
const { tagged, untagged } = paths['/plants'].post.requestBody.content['application/json'].examples;

const unavailable: PlantStore = {
  location: 'nowhere',
  add: () => Promise.reject(new Unavailable('unreachable', 'UNREACHABLE')),
  ready: () => Promise.reject(new Unavailable('unreachable', 'UNREACHABLE')),
  stats: () => ({}),
  close: async () => undefined,
};

let service: Service;
let withoutStore: Service;
beforeAll(async () => {
  [service, withoutStore] = await Promise.all([serve(), serve({ store: unavailable })]);
});
afterAll(() => Promise.all([service.stop(), withoutStore.stop()]));

test('the service sends every example response of the document', async () => {
  const post = async (plant: unknown, headers = {}, { port } = service) => {
    const response = await fetch(`http://127.0.0.1:${port}/plants`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(plant),
    });
    return response.json();
  };
  const answers = {
    PlantStored: { tagged: await post(tagged.value), untagged: await post(untagged.value) },
    InvalidPlant: { invalid: await post({ ...tagged.value, id: '1' }) },
    Failure: {
      unauthorized: await post(tagged.value, { Authorization: '' }),
      unsupported: await post(tagged.value, { 'Content-Type': 'text/plain' }),
      unavailable: await post(tagged.value, {}, withoutStore),
    },
  };
  const examples = Object.entries<DeclaredResponse>(components.responses).map(
    ([name, { content }]) => [
      name,
      Object.fromEntries(
        Object.entries(content['application/json'].examples).map(([key, { value }]) => [
          key,
          value,
        ]),
      ),
    ],
  );
  expect(answers).toEqual(Object.fromEntries(examples));
});

interface DeclaredResponse {
  readonly content: {
    'application/json': { examples: Readonly<Record<string, { value: unknown }>> };
  };
}
