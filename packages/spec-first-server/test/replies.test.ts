import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { serve, withFiles } from 'test-support/documents';
import type { AnyHandler } from '../src/core/handlers/types.ts';

test('in development, the first undeclared member of each operation is logged', async () => {
  const schema = '{ type: object, properties: { id: { type: integer } } }';
  const text = `openapi: 3.1.0
info: { title: A, version: 1.0.0 }
paths:
  /a:
    get:
      operationId: a
      responses: { '200': { description: it, content: { application/json: { schema: ${schema} } } } }
`;
  const bodies = [
    { id: 1, hash: 'x' },
    { id: 1, other: 'x' },
  ];
  const logOf = async (inDevelopment: boolean) => {
    const a: AnyHandler = ({ headers }) => ({
      status: 200,
      body: bodies[Number(headers['x-body'])],
    });
    const { client, lines } = await withFiles({ 'openapi.yaml': text }, (folder) =>
      serve(join(folder, 'openapi.yaml'), { a }, { inDevelopment }),
    );
    for (const index of bodies.keys()) {
      await client.get('/a').set('X-Body', String(index)).expect(200, { id: 1 });
    }
    return lines.filter(({ member }) => member !== undefined);
  };
  expect(await logOf(true)).toEqual([
    expect.objectContaining({ operationId: 'a', member: 'hash' }),
  ]);
  expect(await logOf(false)).toEqual([]);
});

test('formats of a service are checked in requests and replies', async () => {
  const formats = { even: (text: string) => text.length % 2 === 0 };
  const text = `openapi: 3.1.0
info: { title: A, version: 1.0.0 }
paths:
  /a:
    post:
      operationId: a
      requestBody: { content: { application/json: { schema: { type: string, format: even } } } }
      responses: { '200': { description: it, content: { application/json: { schema: { type: string, format: even } } } } }
`;
  const a: AnyHandler = ({ body }) => ({ status: 200, body: body === 'four' ? 'odd' : body });
  const { client, lines } = await withFiles({ 'openapi.yaml': text }, (folder) =>
    serve(join(folder, 'openapi.yaml'), { a }, { formats }),
  );
  const post = (body: string) =>
    client.post('/a').set('Content-Type', 'application/json').send(JSON.stringify(body));
  await post('ab').expect(200);
  const { body } = await post('abc').expect(400);
  expect(body.message).toBe('/body must match format "even"');
  await post('four').expect(500);
  expect(JSON.stringify(lines)).not.toContain('format even is not known');
});
