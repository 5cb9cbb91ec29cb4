import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { serve, withFiles } from 'test-support/documents';

const DOCUMENT = `openapi: 3.1.0
info: { title: A, version: 1.0.0 }
security: [{ token: [] }]
paths:
  /a:
    get:
      operationId: a
      responses: { '204': { description: done, headers: { X-Left: { schema: { type: integer } } } } }
    options: { operationId: b, responses: { '204': { description: done } } }
components: { securitySchemes: { token: { type: http, scheme: bearer } } }
`;
const APP = 'https://app.example';

const start = async (corsOrigins: '*' | readonly string[]) => {
  const handlers = {
    a: () => ({ status: 204, headers: { 'X-Left': 3 } }),
    b: () => ({ status: 204 }),
  };
  const { client } = await withFiles({ 'openapi.yaml': DOCUMENT }, (folder) =>
    serve(join(folder, 'openapi.yaml'), handlers, { corsOrigins }),
  );
  return client;
};

const corsHeaders = (headers: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

test('without origins, no page of another origin is allowed to call', async () => {
  const client = await start([]);
  const answer = await client
    .get('/a')
    .set('Origin', APP)
    .set('Authorization', 'Bearer good')
    .expect(204);
  expect(corsHeaders(answer.headers)).toEqual([]);
  const preflight = await client
    .options('/a')
    .set('Origin', APP)
    .set('Access-Control-Request-Method', 'GET');
  expect(preflight.status).toBe(401);
  expect(corsHeaders(preflight.headers)).toEqual([]);
});

test('a listed origin may call with credentials, and reads the declared headers', async () => {
  const client = await start(['https://other.example', APP]);
  const answer = await client
    .get('/a')
    .set('Origin', APP)
    .set('Authorization', 'Bearer good')
    .expect(204);
  expect(answer.headers).toMatchObject({
    'access-control-allow-origin': APP,
    'access-control-allow-credentials': 'true',
    vary: 'Origin',
  });
  const exposed = String(answer.headers['access-control-expose-headers']).split(',');
  expect(exposed).toEqual(
    expect.arrayContaining(['x-left', 'x-request-id', 'www-authenticate', 'retry-after', 'allow']),
  );
});

test('a failure can be read as well', async () => {
  const client = await start([APP]);
  for (const [path, status] of [
    ['/a', 401],
    ['/nowhere', 404],
  ] as const) {
    const answer = await client.get(path).set('Origin', APP).expect(status);
    expect(answer.headers['access-control-allow-origin']).toBe(APP);
  }
});

test('a preflight is answered without credentials, from the methods of the document', async () => {
  const client = await start([APP]);
  const answer = await client
    .options('/a')
    .set('Origin', APP)
    .set('Access-Control-Request-Method', 'GET')
    .set('Access-Control-Request-Headers', 'authorization,content-type')
    .expect(204);
  expect(answer.headers).toMatchObject({
    'access-control-allow-origin': APP,
    'access-control-allow-methods': 'GET,OPTIONS',
    'access-control-allow-headers': 'authorization,content-type',
    'access-control-max-age': '600',
  });
});

test('OPTIONS that is not a preflight reaches the operation of the document', async () => {
  const client = await start([APP]);
  await client.options('/a').set('Origin', APP).expect(401);
  const answer = await client
    .options('/a')
    .set('Origin', APP)
    .set('Authorization', 'Bearer good')
    .expect(204);
  expect(answer.headers['access-control-allow-origin']).toBe(APP);
});

test('an origin that is not listed is not allowed', async () => {
  const client = await start([APP]);
  for (const origin of [
    'https://evil.example',
    'null',
    `${APP}.evil.example`,
    'http://app.example',
  ]) {
    const answer = await client
      .get('/a')
      .set('Origin', origin)
      .set('Authorization', 'Bearer good')
      .expect(204);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  }
});

test('* allows all origins, without credentials', async () => {
  const client = await start('*');
  const answer = await client
    .get('/a')
    .set('Origin', APP)
    .set('Authorization', 'Bearer good')
    .expect(204);
  expect(answer.headers).toMatchObject({ 'access-control-allow-origin': '*' });
  expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
});
