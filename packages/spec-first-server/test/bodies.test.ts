import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { echo, serve, withFiles } from '../../../test/support/documents.ts';
import { Bytes } from '../src/request/bytes.ts';

const FORMS = `openapi: 3.1.0
info: { title: Forms, version: 1.0.0 }
paths:
  /forms:
    post:
      operationId: forms
      parameters:
        - { name: deep, in: query, style: deepObject, schema: { $ref: '#/components/schemas/Tree' } }
      requestBody:
        content:
          application/x-www-form-urlencoded: { schema: { $ref: '#/components/schemas/Form' } }
          multipart/form-data: { schema: { $ref: '#/components/schemas/Form' } }
          application/json: {}
      responses: { '200': { description: it, content: { application/json: {} } } }
components:
  schemas:
    Tree: { type: [object, string], additionalProperties: { $ref: '#/components/schemas/Tree' } }
    Form:
      allOf:
        - { $ref: '#/components/schemas/Base' }
        - { type: object, properties: { point: { type: object, properties: { x: { type: integer } } } } }
    Base:
      type: object
      properties:
        count: { allOf: [{ $ref: '#/components/schemas/Count' }] }
        open: { type: boolean }
        sizes: { type: array, items: { $ref: '#/components/schemas/Count' } }
        note: { type: string }
        file: { type: string, format: binary }
    Count: { type: integer }
`;

let served: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  served = await withFiles({ 'openapi.yaml': FORMS }, (folder) => serve(join(folder, 'openapi.yaml'), { forms: echo }));
});

describe('forms whose schema is a reference or an allOf', () => {
  const body = { count: 2, open: true, sizes: [1, 2], point: { x: 3 } };

  test('have numbers, booleans and objects when urlencoded', async () => {
    const sent = 'count=2&open=true&sizes=1&sizes=2&point=%7B%22x%22:3%7D';
    const response = await served.client.post('/forms').type('application/x-www-form-urlencoded').send(sent);
    expect(response.body).toMatchObject({ body });
  });

  test('have numbers, booleans and objects when multipart', async () => {
    const form = served.client.post('/forms').field('count', '2').field('open', 'true').field('point', '{"x":3}');
    expect((await form.field('sizes', '1').field('sizes', '2')).body).toMatchObject({ body });
  });
});

describe('multipart/form-data', () => {
  const part = (head: string, content: Buffer) =>
    Buffer.concat([
      Buffer.from(`--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
      content,
      Buffer.from('\r\n--b--\r\n'),
    ]);
  const post = (body: Buffer) =>
    served.client.post('/forms').set('Content-Type', 'multipart/form-data; boundary=b').send(body);

  test('with text that is not UTF-8 is rejected', async () => {
    const { status, body } = await post(part('name="note"', Buffer.from([0x61, 0xff])));
    expect([status, body.message]).toEqual([400, 'texts and names in the body must be UTF-8']);
  });

  test('may have files of any bytes', async () => {
    await post(part('name="file"; filename="a"', Buffer.from([0x61, 0xff]))).expect(200);
  });
});

test('a parameter nested too deeply is rejected', async () => {
  const { status, body } = await served.client.post(`/forms?deep${'[a]'.repeat(2000)}=x`);
  expect([status, body.message]).toEqual([400, '/query/deep must be nested at most 256 levels deep']);
});

test('a body in tiny chunks takes memory by its bytes, not by its chunks', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  const bytes = new Bytes();
  for (let count = 0; count < 100_000; count++) bytes.add(Buffer.allocUnsafeSlow(1));
  collectGarbage();
  const after = process.memoryUsage();
  expect(bytes.all()).toHaveLength(100_000);
  expect(after.heapUsed + after.arrayBuffers - heapUsed - arrayBuffers).toBeLessThan(2_000_000);
});
