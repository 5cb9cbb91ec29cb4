import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from '@jest/globals';
import { withFiles } from 'test-support/files';

const HEAD = { openapi: '3.1.0', info: { title: 'A', version: '1.0.0' } };

const named = <T>(count: number, create: (name: string) => T): Record<string, T> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`n${index}`, create(`n${index}`)]),
  );

const posting = (schema: unknown, others: object = {}) => ({
  ...HEAD,
  paths: {
    '/a': {
      post: {
        requestBody: { content: { 'application/json': { schema } } },
        responses: { '204': { description: 'done' } },
      },
    },
  },
  components: others,
});

const refsTo = (components: object) =>
  Object.keys(components).map((name) => ({ $ref: `#/components/schemas/${name}` }));

const DOCUMENTS: Readonly<Record<string, (size: number) => object>> = {
  properties: (size) =>
    posting({ type: 'object', properties: named(size, () => ({ type: 'string' })) }),
  'required properties': (size) => {
    const properties = named(size, () => ({ type: 'string' }));
    return posting({ type: 'object', properties, required: Object.keys(properties) });
  },
  'values of an enum': (size) => posting({ enum: Object.keys(named(size, () => null)) }),
  'alternatives with a discriminator': (size) => {
    const components = named(size, (name) => ({
      type: 'object',
      required: ['kind'],
      properties: { kind: { const: name } },
    }));
    const oneOf = refsTo(components);
    return posting({ oneOf, discriminator: { propertyName: 'kind' } }, { schemas: components });
  },
  'schemas that extend another': (size) => {
    const parent = {
      type: 'object',
      required: ['kind'],
      properties: { kind: { type: 'string' } },
      discriminator: { propertyName: 'kind' },
    };
    const children = named(size, () => ({ allOf: [{ $ref: '#/components/schemas/Parent' }] }));
    return posting(
      { $ref: '#/components/schemas/Parent' },
      { schemas: { Parent: parent, ...children } },
    );
  },
  'schemas with $id': (size) => {
    const components = named(size, (name) => ({ $id: `https://example.com/${name}` }));
    return posting({ anyOf: refsTo(components) }, { schemas: components });
  },
  'unknown members': (size) =>
    posting({}, { responses: named(size, () => ({ description: 'a', other: 1 })) }),
  'broken references': (size) =>
    posting({}, { schemas: named(size, (name) => ({ $ref: `#/components/schemas/no-${name}` })) }),
  'broken operations': (size) => ({
    ...HEAD,
    paths: Object.fromEntries(
      Array.from({ length: size }, (_, index) => [`/${index}`, { get: { parameters: 5 } }]),
    ),
  }),
  paths: (size) => ({
    ...HEAD,
    paths: Object.fromEntries(
      Array.from({ length: size }, (_, index) => [`/${index}`, { get: { responses: { 5: {} } } }]),
    ),
  }),
};

const counter = new Worker(new URL('support/count-calls.ts', import.meta.url));
afterAll(() => counter.terminate());

/** The number of function calls of the library for a document. */
const callsFor = (document: object): Promise<number> =>
  withFiles({ 'openapi.json': JSON.stringify(document) }, async (folder) => {
    counter.postMessage(join(folder, 'openapi.json'));
    const [calls] = await once(counter, 'message');
    return calls;
  });

test.each(Object.keys(DOCUMENTS))(
  'the number of function calls grows linearly with %s',
  async (name) => {
    const documentOf = DOCUMENTS[name] ?? (() => HEAD);
    const calls = await callsFor(documentOf(150));
    expect(await callsFor(documentOf(300))).toBeLessThan(calls * 2.2);
  },
);
