import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { type AnyHandler, createApp } from 'spec-first-server';
import { ENVIRONMENT } from 'test-support/environment';
import { writeFiles } from 'test-support/files';
import { compile, makeProject } from 'test-support/project';
import { generateTypes, TYPES } from '../src/types.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: Orders, version: 1.0.0 }
security: []
paths:
  /orders/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    put:
      operationId: putOrder
      parameters: [{ name: dryRun, in: query, schema: { type: boolean } }]
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Order' } } } }
      responses:
        '200': { description: The order., content: { application/json: { schema: { $ref: '#/components/schemas/Order' } } } }
        '400': { description: An error., content: { application/problem+json: { schema: { $ref: '#/components/schemas/Problem' } } } }
components:
  schemas:
    Order: { type: object, required: [lines, placedAt], properties: { lines: { type: array, maxItems: 2, items: { type: string } }, placedAt: { type: string, format: date-time, readOnly: true } } }
    Problem: { type: object, required: [title], properties: { title: { type: string } } }
`;

const PROGRAM = `import createClient from 'openapi-fetch';
import type { paths, Problem } from '../generated/openapi.ts';

const client = createClient<paths>({ baseUrl: String(process.argv[2]) });
const put = (lines: string[]) =>
  client.PUT('/orders/{id}', { params: { path: { id: 7 }, query: { dryRun: true } }, body: { lines } });

const { data, response } = await put(['a']);
const placedAt: string | undefined = data?.placedAt;
const problem: Problem | undefined = (await put(['a', 'b', 'c'])).error;
console.log(JSON.stringify([response.status, placedAt, data?.lines, problem?.title]));

export const mistakes = [
  // @ts-expect-error there is no such path
  () => client.GET('/orders'),
  // @ts-expect-error a member is missing
  () => client.PUT('/orders/{id}', { params: { path: { id: 7 } }, body: {} }),
  // @ts-expect-error the id is a number
  () => client.PUT('/orders/{id}', { params: { path: { id: 'a' } }, body: { lines: [] } }),
];
`;

test('openapi-fetch compiles with the generated paths, and calls the service', async () => {
  const folder = makeProject({ 'openapi.yaml': DOCUMENT, 'src/program.ts': PROGRAM });
  try {
    const file = join(folder, 'openapi.yaml');
    writeFiles(folder, { [TYPES]: await generateTypes(await loadDocument(file)) });
    expect(compile(folder)).toBe('');
    const placedAt = new Date('2026-11-29T12:00:00Z');
    const putOrder: AnyHandler = ({ body }) => ({
      status: 200,
      body: { ...Object(body), placedAt },
    });
    await using server = createServer(await createApp({ document: file, handlers: { putOrder } }));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = Object(server.address());
    const args = [join(folder, 'src/program.ts'), `http://127.0.0.1:${port}`];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: ENVIRONMENT });
    expect(JSON.parse(stdout)).toEqual([200, '2026-11-29T12:00:00.000Z', ['a'], 'Bad Request']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
