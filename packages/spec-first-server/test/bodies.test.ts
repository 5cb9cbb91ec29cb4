import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { echo, serve, withFiles } from 'test-support/documents';
import type { AnyHandler } from '../src/core/handlers/types.ts';

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
          application/x-www-form-urlencoded: &form
            schema: { $ref: '#/components/schemas/Form' }
            encoding: { note: { explode: false }, tree: { style: deepObject } }
          multipart/form-data: *form
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
        tree: { $ref: '#/components/schemas/Tree' }
        file: { type: string, format: binary }
    Count: { type: integer }
`;

type Served = Awaited<ReturnType<typeof serve>>;

let served: Served;
beforeAll(async () => {
  served = await withFiles({ 'openapi.yaml': FORMS }, (folder) =>
    serve(join(folder, 'openapi.yaml'), { forms: echo }),
  );
});

describe('a form whose schema is a reference or an allOf', () => {
  const body = { count: 2, open: true, sizes: [1, 2], point: { x: 3 } };

  test('has numbers, booleans and objects if it is urlencoded', async () => {
    const sent = 'count=2&open=true&sizes=1&sizes=2&point=%7B%22x%22:3%7D';
    const response = await served.client
      .post('/forms')
      .type('application/x-www-form-urlencoded')
      .send(sent);
    expect(response.body).toMatchObject({ body });
  });

  test('has numbers, booleans and objects if it is multipart', async () => {
    const form = served.client
      .post('/forms')
      .field('count', '2')
      .field('open', 'true')
      .field('point', '{"x":3}');
    expect((await form.field('sizes', '1').field('sizes', '2')).body).toMatchObject({ body });
  });
});

describe('a form with a field that its encoding does not allow is rejected', () => {
  const tree = `tree${'[a]'.repeat(257)}`;
  test.each([
    ['/body/note must be given once', 'note', 'note'],
    ['/body/tree must be nested at most 256 levels deep', tree, 'note'],
  ])('%s', async (message, one, other) => {
    const problem = { error: 400, message };
    const urlencoded = served.client.post('/forms').type('application/x-www-form-urlencoded');
    await urlencoded.send(`${one}=1&${other}=2`).expect(400, problem);
    await served.client.post('/forms').field(one, '1').field(other, '2').expect(400, problem);
  });
});

describe('multipart/form-data', () => {
  test('limits a file by its size in bytes, not in characters', async () => {
    const field = '{ type: string, format: binary, minLength: 2, maxLength: 3000000 }';
    const list = `{ type: array, items: ${field} }`;
    const schema = `{ type: object, properties: { file: ${field}, list: ${list} } }`;
    const document = `openapi: 3.1.0\ninfo: { title: A, version: 1.0.0 }\npaths:\n  /files:\n    post:\n      operationId: files\n      requestBody: { content: { multipart/form-data: { schema: ${schema}, x-body-limit: 30mb } } }\n      responses: { '200': { description: it, content: { application/json: {} } } }\n`;
    const files: AnyHandler = ({ body }) => ({
      status: 200,
      body: (body as { file: File }).file.size,
    });
    await withFiles({ 'openapi.yaml': document }, async (folder) => {
      const { client } = await serve(join(folder, 'openapi.yaml'), { files });
      const send = (name: string, size: number) =>
        client.post('/files').attach(name, Buffer.alloc(size, 'é'), 'a.bin');
      for (const size of [2, 3_000_000]) expect((await send('file', size)).body).toBe(size);
      const large = await send('file', 3_000_001).expect(400);
      expect(large.body.message).toBe('/body/file must NOT have more than 3000000 bytes');
      const small = await send('list', 1).expect(400);
      expect(small.body.message).toBe('/body/list/0 must NOT have fewer than 2 bytes');
    });
  });
});

test('a parameter nested too deeply is rejected', async () => {
  const { status, body } = await served.client.post(`/forms?deep${'[a]'.repeat(2000)}=x`);
  expect([status, body.message]).toEqual([
    400,
    '/query/deep must be nested at most 256 levels deep',
  ]);
});

describe('a document with ranges of media types and limits', () => {
  const schema =
    '{ type: object, required: [n], properties: { n: { type: integer, default: 1 } } }';
  const document = `openapi: 3.1.0
info: { title: Any, version: 1.0.0 }
paths:
  /any:
    post:
      operationId: any
      requestBody:
        content:
          '*/*': { schema: ${schema}, x-body-limit: 20 }
          image/png: { schema: { type: string, format: binary, maxLength: 30 } }
          text/plain: { schema: { type: string } }
      responses: { '200': { description: it, content: { application/json: {} } } }
`;
  let client: Served['client'];
  beforeAll(async () => {
    const any: AnyHandler = async ({ body }) => ({
      status: 200,
      body: { body: body instanceof Readable ? (await body.toArray()).join('') : body },
    });
    ({ client } = await withFiles({ 'openapi.yaml': document }, (folder) =>
      serve(join(folder, 'openapi.yaml'), { any }, { bodyLimit: 10 }),
    ));
  });
  const post = (type: string, body: string) =>
    client.post('/any').set('Content-Type', type).send(body);

  test('parses and validates JSON of a range; bodies of other types are streams', async () => {
    await post('application/json', '{"n":2}').expect(200, { body: { n: 2 } });
    await post('application/vnd.a+json', '{"n":2}').expect(200, { body: { n: 2 } });
    const { body } = await post('application/json', '{}').expect(400);
    expect(body.message).toBe('/body/n is required');
    await post('application/xml', '<n>2</n>').expect(200, { body: '<n>2</n>' });
  });

  test('is not served if a limit is invalid', async () => {
    const wrong = document.replace('x-body-limit: 20', 'x-body-limit: 5 MiB');
    await withFiles({ 'openapi.yaml': wrong }, (folder) =>
      expect(serve(join(folder, 'openapi.yaml'), { any: echo })).rejects.toThrow(
        /openapi.yaml:9:\d+ x-body-limit must be a size of at least 1b, such as 500, 100kb or 10mb/,
      ),
    );
  });

  test.each([
    ['text/plain', 10],
    ['application/xml', 20],
    ['application/json', 20],
    ['image/png', 30],
  ])('accepts bodies of %s up to %i bytes', async (type, limit) => {
    await post(type, '1'.repeat(limit)).expect(({ status }) => expect(status).not.toBe(413));
    const { body } = await post(type, '1'.repeat(limit + 1)).expect(413);
    expect(body.message).toBe(`the body must be at most ${limit} bytes`);
  });
});
