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

describe('forms whose schema is a reference or an allOf', () => {
  const body = { count: 2, open: true, sizes: [1, 2], point: { x: 3 } };

  test('have numbers, booleans and objects when urlencoded', async () => {
    const sent = 'count=2&open=true&sizes=1&sizes=2&point=%7B%22x%22:3%7D';
    const response = await served.client
      .post('/forms')
      .type('application/x-www-form-urlencoded')
      .send(sent);
    expect(response.body).toMatchObject({ body });
  });

  test('have numbers, booleans and objects when multipart', async () => {
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
    ['note must be given once', 'note', 'note'],
    ['tree must be nested at most 256 levels deep', tree, 'note'],
  ])('%s', async (message, one, other) => {
    const problem = { error: 400, message };
    const urlencoded = served.client.post('/forms').type('application/x-www-form-urlencoded');
    await urlencoded.send(`${one}=1&${other}=2`).expect(400, problem);
    await served.client.post('/forms').field(one, '1').field(other, '2').expect(400, problem);
  });
});

describe('multipart/form-data', () => {
  test('validates the size of a large file without a string of the same length', async () => {
    const field = '{ type: string, format: binary, minLength: 2, maxLength: 30000000 }';
    const list = `{ type: array, items: ${field} }`;
    const schema = `{ type: object, properties: { file: ${field}, list: ${list} } }`;
    const document = `openapi: 3.1.0\ninfo: { title: A, version: 1.0.0 }\npaths:\n  /files:\n    post:\n      operationId: files\n      requestBody: { content: { multipart/form-data: { schema: ${schema}, x-body-limit: 50000000 } } }\n      responses: { '200': { description: it, content: { application/json: {} } } }\n`;
    const files: AnyHandler = ({ body }) => ({
      status: 200,
      body: (body as { file: File }).file.size,
    });
    await withFiles({ 'openapi.yaml': document }, async (folder) => {
      const { client } = await serve(join(folder, 'openapi.yaml'), { files });
      const send = (name: string, size: number) =>
        client.post('/files').attach(name, Buffer.alloc(size, 'é'), 'a.bin');
      for (const size of [2, 30_000_000]) expect((await send('file', size)).body).toBe(size);
      const large = await send('file', 30_000_001).expect(400);
      expect(large.body.message).toBe('/body/file must NOT have more than 30000000 bytes');
      const small = await send('list', 1).expect(400);
      expect(small.body.message).toBe('/body/list/0 must NOT have fewer than 2 bytes');
    });
  });

  const part = (head: string, content: Buffer) =>
    Buffer.concat([
      Buffer.from(`--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
      content,
      Buffer.from('\r\n--b--\r\n'),
    ]);
  const post = (body: Buffer) =>
    served.client.post('/forms').set('Content-Type', 'multipart/form-data; boundary=b').send(body);

  describe('with media types for its parts', () => {
    const file = '{ type: string, format: binary }';
    const encoding = `{ photo: { contentType: 'image/png, image/jpeg' }, scans: { contentType: 'image/*' },
              meta: { contentType: application/json }, note: { contentType: text/csv } }`;
    const types = `openapi: 3.1.0
info: { title: Types, version: 1.0.0 }
paths:
  /photos:
    post:
      operationId: photos
      requestBody:
        content:
          multipart/form-data:
            schema:
              type: object
              properties: { photo: ${file}, scans: { type: array, items: ${file} }, any: {}, meta: { type: object }, note: { type: string } }
            encoding: ${encoding}
      responses: { '200': { description: it, content: { application/json: {} } } }
`;
    const photos: AnyHandler = ({ body }) => ({
      status: 200,
      body: Object.entries(Object(body)).map(([name, value]) => [
        name,
        [value].flat().map((item) => (item instanceof File ? item.type : item)),
      ]),
    });
    let lines: Served['lines'];
    let client: Served['client'];
    beforeAll(async () => {
      ({ client, lines } = await withFiles({ 'openapi.yaml': types }, (folder) =>
        serve(join(folder, 'openapi.yaml'), { photos }),
      ));
    });
    /** Sends a part, with a filename and a media type if given. */
    const send = (name: string, filename: string | undefined, type: string | undefined) => {
      const file = filename === undefined ? '' : `; filename="${filename}"`;
      const header = type === undefined ? '' : `\r\nContent-Type: ${type}`;
      const body = `--b\r\nContent-Disposition: form-data; name="${name}"${file}${header}\r\n\r\n{}\r\n--b--\r\n`;
      return client
        .post('/photos')
        .set('Content-Type', 'multipart/form-data; boundary=b')
        .send(body);
    };

    test.each([
      ['photo', 'a.png', 'image/png', 'image/png'],
      ['photo', 'a.jpg', 'IMAGE/JPEG', 'image/jpeg'],
      ['scans', 'a.webp', 'image/webp', 'image/webp'],
      ['any', 'a.bin', 'application/octet-stream', 'application/octet-stream'],
      ['meta', undefined, undefined, {}],
      ['meta', undefined, 'application/json', {}],
      ['meta', 'blob', 'application/json; charset=utf-8', {}],
      ['note', undefined, undefined, '{}'],
      ['note', undefined, 'text/csv', '{}'],
      ['undeclared', undefined, undefined, '{}'],
      ['undeclared', 'a.txt', 'text/plain', 'text/plain'],
    ])('accepts the part %s with the filename %s of %s', async (name, filename, type, value) => {
      expect((await send(name, filename, type).expect(200)).body).toEqual([[name, [value]]]);
    });

    test.each([
      ['photo', 'a.html', 'text/html', 415, 'must be image/png or image/jpeg'],
      ['photo', 'a.svg', 'image/svg+xml', 415, 'must be image/png or image/jpeg'],
      ['photo', 'a.png', undefined, 415, 'must be image/png or image/jpeg'],
      ['scans', 'a.pdf', 'application/pdf', 415, 'must be image/*'],
      ['meta', 'a.html', 'text/html', 415, 'must be application/json'],
      ['note', undefined, 'text/html', 415, 'must be text/csv'],
      ['photo', undefined, undefined, 400, 'must be a file, with a filename'],
      ['photo', undefined, 'image/png', 400, 'must be a file, with a filename'],
      ['scans', undefined, undefined, 400, 'must be a file, with a filename'],
      ['any', undefined, undefined, 400, 'must be a file, with a filename'],
    ])(
      'rejects the part %s with the filename %s of %s by %i',
      async (name, filename, type, status, message) => {
        const { body } = await send(name, filename, type).expect(status);
        expect(body.message).toMatch(`the part "${name}" of the body ${message}`);
        expect(lines.at(-1)?.reason).toMatch(`a part of the body ${message}`);
      },
    );
  });

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
  expect([status, body.message]).toEqual([
    400,
    '/query/deep must be nested at most 256 levels deep',
  ]);
});

describe('a document with ranges of media types and limits of its own', () => {
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

  test('parses and validates JSON under a range, and leaves any other type a stream', async () => {
    await post('application/json', '{"n":2}').expect(200, { body: { n: 2 } });
    await post('application/vnd.a+json', '{"n":2}').expect(200, { body: { n: 2 } });
    const { body } = await post('application/json', '{}').expect(400);
    expect(body.message).toBe("/body/n must have required property 'n'");
    await post('application/xml', '<n>2</n>').expect(200, { body: '<n>2</n>' });
  });

  test('accepts limits in the forms of BODY_LIMIT', async () => {
    const kilobyte = document.replace('x-body-limit: 20', 'x-body-limit: 1kb');
    const any: AnyHandler = () => ({ status: 200, body: {} });
    const served = await withFiles({ 'openapi.yaml': kilobyte }, (folder) =>
      serve(join(folder, 'openapi.yaml'), { any }, { bodyLimit: 10 }),
    );
    const send = (length: number) =>
      served.client
        .post('/any')
        .set('Content-Type', 'application/json')
        .send('1'.padStart(length, ' '));
    await send(1024).expect(400);
    const { body } = await send(1025).expect(413);
    expect(body.message).toContain('at most 1024 bytes');
  });

  test.each(['5 MiB', '0', '-1', 'true', '[1]', '1.5', "''", '257mb'])(
    'stops the start if a limit is %s',
    async (limit) => {
      const wrong = document.replace('x-body-limit: 20', `x-body-limit: ${limit}`);
      await withFiles({ 'openapi.yaml': wrong.replace("'*/*'", 'application/json') }, (folder) =>
        expect(serve(join(folder, 'openapi.yaml'), { any: echo })).rejects.toThrow(
          /openapi.yaml:9:\d+ x-body-limit must be a size from 1 to 256mb, such as 500, 100kb or 10mb/,
        ),
      );
    },
  );

  test('accepts larger limits for files, which are not kept in memory', async () => {
    const large = document.replace('x-body-limit: 20', 'x-body-limit: 3000000000');
    await withFiles({ 'openapi.yaml': large.replace("'*/*'", 'multipart/form-data') }, (folder) =>
      expect(serve(join(folder, 'openapi.yaml'), { any: echo })).resolves.toBeDefined(),
    );
  });

  test.each([
    ['text/plain', 10],
    ['application/xml', 20],
    ['application/json', 20],
    ['image/png', 30],
  ])('takes bodies of %s up to %i bytes, and says who sets the limit', async (type, limit) => {
    await post(type, '1'.repeat(limit)).expect(({ status }) => expect(status).not.toBe(413));
    const { body } = await post(type, '1'.repeat(limit + 1)).expect(413);
    expect(body.message).toBe(
      `the body must be at most ${limit} bytes (BODY_LIMIT, or the limit in the document)`,
    );
  });
});
