import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { echo, serve, withFiles } from 'test-support/documents';

const OK = "'200': { description: done, content: { application/json: {} } }";

test.each([
  ['3.0.3', '', 200],
  ['3.1.0', '', 200],
  ['3.0.3', 'x-read-only: reject\n', 400],
  ['3.1.0', 'x-read-only: reject\n', 400],
])(
  'a request with read-only members, in OpenAPI %s with the extension %j, gets %d',
  async (version, extension, status) => {
    const text = `openapi: ${version}\n${extension}info: { title: A, version: 1.0.0 }\npaths:\n  /a:\n    put:\n      operationId: a\n      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/A' } } } }\n      responses: { ${OK} }\ncomponents: { schemas: { A: { type: object, required: [id, b], additionalProperties: false, properties: { id: { type: integer, readOnly: true }, b: { type: array, items: { $ref: '#/components/schemas/B' } } } }, B: { type: object, properties: { at: { type: string, readOnly: true }, n: { type: integer } } } } }\n`;
    const body = { id: 1, b: [{ at: 'now', n: 2 }] };
    await withFiles({ 'openapi.yaml': text }, async (folder) => {
      const { client } = await serve(join(folder, 'openapi.yaml'), { a: echo });
      const response = await client.put('/a').send(body).expect(status);
      if (status === 200) {
        expect(response.body.body).toEqual({ b: [{ n: 2 }] });
      } else {
        expect(response.body.message).toBe(
          '/body/id must not be present; /body/b/0/at must not be present',
        );
      }
    });
  },
);
