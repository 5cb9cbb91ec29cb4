import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { clientOf, routesOf } from 'openapi-document/client';
import { serve, withFiles } from 'test-support/documents';
import { compile, makeProject } from 'test-support/project';
import { generateClient } from '../src/types.ts';

describe('a client', () => {
  test('loads only modules that run in a browser', () => {
    const seen = new Set<string>();
    const follow = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      const text = readFileSync(file, 'utf8');
      expect(text).not.toMatch(/\bBuffer\b/);
      for (const [, specifier = ''] of text.matchAll(
        /^(?:import|export) (?!type )[^;]*? from '(.*)';/gm,
      )) {
        expect(`${file}: ${specifier}`).toMatch(/: \.\.?\//);
        follow(join(dirname(file), specifier));
      }
    };
    follow(fileURLToPath(import.meta.resolve('openapi-document/client')));
    expect(seen.size).toBeGreaterThan(5);
  });

  test.each(['application/x-www-form-urlencoded', 'multipart/form-data'])(
    'sends a form in %s that the server reads as the same values',
    async (type) => {
      const properties = {
        plain: '{ type: object, properties: { x: { type: integer } } }',
        deep: '{ type: object, properties: { a: { type: object, properties: { b: { type: integer } } } } }',
        joined: '{ type: array, items: { type: string } }',
        list: '{ type: array, items: { type: object, properties: { n: { type: integer } } } }',
        json: '{ type: array, items: { type: integer } }',
        text: '{ type: string }',
      };
      const schema = `{ type: object, required: [plain, deep, joined, list, json, text], properties: { ${Object.entries(properties).map((pair) => pair.join(': '))} } }`;
      const encoding =
        '{ deep: { style: deepObject, explode: true }, joined: { style: form, explode: false }, json: { contentType: application/json } }';
      const text = `openapi: 3.1.0\ninfo: { title: A, version: '1' }\npaths:\n  /a:\n    post:\n      operationId: a\n      requestBody: { required: true, content: { ${type}: { schema: ${schema}, encoding: ${encoding} } } }\n      responses: { '200': { description: it, content: { application/json: {} } } }\n`;
      const body = {
        plain: { x: 1 },
        deep: { a: { b: 2 } },
        joined: ['a b', 'c'],
        list: [{ n: 1 }, { n: 2 }],
        json: [1, 2],
        text: 'a&b=c',
      };
      await withFiles({ 'openapi.yaml': text }, async (folder) => {
        const { app, document } = await serve(join(folder, 'openapi.yaml'), {
          a: ({ body: read }) => ({ status: 200, body: read }),
        });
        const listener = app.listen(0, '127.0.0.1');
        await once(listener, 'listening');
        const baseUrl = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
        const client = clientOf(routesOf(document.operations), { baseUrl });
        const { status, body: read } = await Object(client).a({ body });
        listener.close();
        expect([status, read]).toEqual([200, body]);
      });
    },
  );
});

/** The compiler must report a mistake after each `@ts-expect-error`. */
const USES = `
import { createClient } from './client.ts';

const client = createClient({ baseUrl: 'http://localhost' });
const reply = await client.patchRoom({ path: { id: 3n }, query: { tags: ['a'] }, body: { name: 'x' } });
if (reply.status === 200) reply.body.id satisfies number | bigint;
else if (reply.status === 404) reply.body.title satisfies string | undefined;
else if (reply.status === 503) reply.body satisfies undefined;
// @ts-expect-error a property of replies only
await client.patchRoom({ path: { id: 3n }, body: { id: 3, name: 'x' } });
// @ts-expect-error a parameter that is not declared
await client.patchRoom({ path: { id: 3n }, query: { other: 1 }, body: { name: 'x' } });
// @ts-expect-error a media type that is not declared
await client.patchRoom({ path: { id: 3n }, contentType: 'application/json', body: { name: 'x' } });
// @ts-expect-error a required parameter is missing
await client.patchRoom({ body: { name: 'x' } });
// @ts-expect-error a required input
await client.patchRoom();
await client.listRooms();
`;

const ROOMS = `
openapi: 3.1.0
info: { title: Rooms, version: '1' }
paths:
  /rooms:
    get: { operationId: listRooms, responses: { '204': { description: None. } } }
  /rooms/{id}:
    patch:
      operationId: patchRoom
      parameters:
        - { name: id, in: path, required: true, schema: { type: integer, format: int64 } }
        - { name: tags, in: query, explode: false, schema: { type: array, items: { type: string } } }
      requestBody:
        required: true
        content: { application/merge-patch+json: { schema: { $ref: '#/components/schemas/Room' } } }
      responses:
        '200': { description: Done., content: { application/json: { schema: { $ref: '#/components/schemas/Room' } } } }
        4XX:
          description: Wrong.
          content:
            application/problem+json: { schema: { type: object, properties: { title: { type: string } } } }
        default: { description: Failed. }
components:
  schemas:
    Reply: { type: string }
    Room:
      type: object
      required: [id, name]
      properties: { id: { type: integer, format: int64, readOnly: true }, name: { type: string } }
`;

test('the file of a client compiles, with the types of the document', async () => {
  const folder = makeProject({ 'openapi.yaml': ROOMS, 'src/use.ts': USES });
  try {
    writeFileSync(
      join(folder, 'src/client.ts'),
      await generateClient(await loadDocument(join(folder, 'openapi.yaml'))),
    );
    expect(compile(folder)).toBe('');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
