import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { temporalFormats } from 'spec-first-server';
import { serve, withFiles } from 'test-support/documents';

const HEAD = 'openapi: 3.1.0\ninfo: { title: A, version: 1.0.0 }\n';

describe('a mock', () => {
  const mocking = (responses: string, components = '') =>
    withFiles(
      {
        'openapi.yaml': `${HEAD}paths:\n  /a:\n    get:\n      operationId: a\n      responses: ${responses}\n${components}`,
      },
      (folder) => serve(join(folder, 'openapi.yaml'), {}, { missing: 'mock' }),
    );
  const mocked = async (responses: string, components = '') =>
    (await mocking(responses, components)).client;
  const json = (media: string) =>
    `{ '200': { description: it, content: { application/json: ${media} } } }`;

  test('is JSON if the client accepts it, and has a specific type for a media range', async () => {
    const content =
      'application/xml: { schema: { type: object } }, application/json: { example: { n: 1 } }';
    const client = await mocked(`{ '200': { description: it, content: { ${content} } } }`);
    await client.get('/a').expect(200, { n: 1 });
    await client
      .get('/a')
      .set('Accept', 'application/xml; charset=utf-8')
      .expect(200)
      .expect('Content-Type', 'application/xml');
    const any = await mocked(
      "{ '200': { description: it, content: { '*/*': { schema: { type: object } } } } }",
    );
    await any.get('/a').expect(200, {});
    const image = await mocked("{ '200': { description: it, content: { 'image/*': {} } } }");
    await image.get('/a').expect(200).expect('Content-Type', 'image/png');
    const suffix = await mocked(
      "{ '200': { description: it, content: { 'application/*+json': { example: { n: 1 } } } } }",
    );
    await suffix
      .get('/a')
      .expect(200, { n: 1 })
      .expect('Content-Type', /^application\/example\+json/);
  });

  test('has all members, also those with the value of a parameter', async () => {
    const example = { query: 'shoes', total: 3 };
    const parameters = [{ name: 'q', in: 'query', schema: { type: 'string' } }];
    const content = { 'application/json': { schema: {}, example } };
    const get = { operationId: 'a', parameters, responses: { 200: { description: '', content } } };
    const info = { title: 'A', version: '1' };
    const document = { openapi: '3.1.0', info, paths: { '/a': { get } } };
    const { client } = await serve(document, {}, { missing: 'mock' });
    await client.get('/a?q=shoes').expect(200, example);
  });

  test('is the example whose request has the same values', async () => {
    const day = { type: 'string', format: 'date' };
    const schema = { properties: { n: { type: 'integer', default: 1 }, day } };
    const examples = (one: object, two: object) => ({
      examples: { one: { value: one }, two: { value: two } },
    });
    const body = { 'application/json': { schema, ...examples({}, { n: 2, day: '2026-01-02' }) } };
    const answers = { 'application/json': examples({ of: 1 }, { of: 2 }) };
    const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
    const post = {
      operationId: 'a',
      parameters: [
        { ...id, examples: { two: { value: 'b' } } },
        { name: 'on', in: 'query', schema: day, examples: { two: { value: '2026-01-01' } } },
      ],
      requestBody: { content: body },
      responses: { 200: { description: 'it', content: answers } },
    };
    const document = {
      openapi: '3.1.0',
      info: { title: 'A', version: '1.0.0' },
      paths: { '/{id}': { post } },
    };
    const options = { missing: 'mock', formats: temporalFormats } as const;
    const { client } = await serve(document, {}, options);
    const two = { n: 2, day: '2026-01-02' };
    const url = '/b?on=2026-01-01';
    await client.post(url).send(two).expect(200, { of: 2 });
    await client.post(url).send(two).set('Prefer', 'example=one').expect(200, { of: 1 });
    await client.post(url).send({ n: 1 }).expect(200, { of: 1 });
    await client
      .post(url)
      .send({ ...two, day: '2026-01-03' })
      .expect(200, { of: 1 });
    await client.post('/b?on=2026-01-02').send(two).expect(200, { of: 1 });
    await client.post('/c?on=2026-01-01').send(two).expect(200, { of: 1 });
  });

  test('has no undeclared and no `writeOnly` members', async () => {
    const schema =
      '{ type: object, required: [code], properties: { n: {}, code: { type: string, writeOnly: true } } }';
    const client = await mocked(json(`{ schema: ${schema}, example: { n: 1, code: x, more: 2 } }`));
    await client.get('/a').expect(200, { n: 1 });
  });

  test.each([
    ["{ '404': { description: none }, '2XX': { description: ok } }", 200],
    ['{ default: { description: any } }', 200],

    ["{ '404': { description: none }, '201': { description: ok } }", 201],
  ])('of %s without Prefer has the status %i', async (responses, status) => {
    const answer = await (await mocked(responses)).get('/a');
    expect([answer.status, answer.headers['x-mock']]).toEqual([status, 'true']);
  });

  test.each([
    ["{ '200': { description: ok }, '4XX': { description: wrong } }", 'code=418', 418],
    ["{ '200': { description: ok }, '404': { description: none } }", 'wait=1, code="404"', 404],

    ["{ '200': { description: ok }, '404': { description: none } }", 'code=500', 400],
    ["{ '200': { description: ok }, default: { description: any } }", 'code=600', 400],
  ])('of %s with Prefer: %s has the status %i', async (responses, prefer, status) => {
    const answer = await (await mocked(responses)).get('/a').set('Prefer', prefer);
    expect([answer.status, answer.headers['x-mock']]).toEqual([
      status,
      status === 400 ? undefined : 'true',
    ]);
  });

  test('is marked in the log; a declared failure is not logged as an error', async () => {
    const { client, lines } = await mocking(
      "{ '200': { description: it }, '503': { description: down } }",
    );
    await client.get('/a').set('Prefer', 'code=503').expect(503);
    expect(lines).toEqual([
      expect.objectContaining({ level: 30, msg: 'responded', status: 503, mocked: true }),
    ]);
  });

  test('skips examples that do not match, and the log names them', async () => {
    const schema = 'schema: { type: object, required: [n], properties: { n: { type: integer } } }';
    const { client, lines } = await mocking(
      json(`{ ${schema}, examples: { bad: { value: {} }, good: { value: { n: 1 } } } }`),
    );
    await client.get('/a').expect(200, { n: 1 });
    expect(lines.at(-1)?.reason).toBe(
      'examples that do not match their schemas: #/paths/~1a/get/responses/200/content/application~1json/examples/bad: /body/n is required',
    );
    const { body } = await client.get('/a').set('Prefer', 'example=bad').expect(501);
    expect(body.message).toMatch(/add a valid example .* \(\/body\/n is required\)$/);
    const parameters = 'parameters: [{ in: query, name: q, examples: { bad: { value: x } } }]';
    const named = `{ ${schema}, examples: { bad: { value: {} }, good: { value: { n: 1 } } } }`;
    const asked = await mocked(`${json(named)}\n      ${parameters}`);
    await asked.get('/a?q=x').expect(200, { n: 1 });
    const only = await mocking(json(`{ ${schema}, example: { n: x } }`));
    await only.client.get('/a').expect(200);
    expect(only.lines.at(-1)?.reason).toContain('application~1json/example: ');
  });

  test('whose required header cannot be sent is a 501', async () => {
    const header =
      '{ required: true, schema: { type: array, items: { const: "a,b" }, minItems: 1 } }';
    const client = await mocked(`{ '200': { description: it, headers: { X-A: ${header} } } }`);
    const { body } = await client.get('/a').expect(501);
    expect(body.message).toMatch(/the header x-a cannot be sent: an item .* contains ,/);
  });

  test('that cannot be generated is a 501; the message suggests an example', async () => {
    const client = await mocked(json('{ schema: { type: integer, minimum: 3, maximum: 2 } }'));
    const { body } = await client.get('/a').expect(501);
    expect(body.message).toBe(
      'no response could be generated: add a valid example to the response in the document',
    );
  });
});

test('a mock streams the examples of items, or one generated from the schema', async () => {
  const event =
    'type: object, properties: { data: { contentMediaType: application/json, contentSchema: { type: object } } }';
  const operations = {
    a: `text/event-stream: { itemSchema: { ${event} }, example: [{ data: { n: 1 } }, { data: '{"n":2}' }] }`,
    b: `text/event-stream: { itemSchema: { ${event} }, example: "data: {\\"n\\":1}\\n\\n" }`,
    c: 'application/jsonl: { itemSchema: { type: object, required: [n], properties: { n: { const: 3 } } } }',
  };
  const paths = Object.entries(operations).map(
    ([id, media]) =>
      `  /${id}: { get: { operationId: ${id}, responses: { '200': { description: it, content: { ${media} } } } } }\n`,
  );
  const document = `openapi: 3.2.0\ninfo: { title: A, version: 1.0.0 }\npaths:\n${paths.join('')}`;
  await withFiles({ 'openapi.yaml': document }, async (folder) => {
    const { client } = await serve(join(folder, 'openapi.yaml'), {}, { missing: 'mock' });
    await client.get('/a').expect(200, 'data: {"n":1}\n\ndata: {"n":2}\n\n');
    await client.get('/b').expect(200, 'data: {"n":1}\n\n');
    await client.get('/c').buffer().expect(200, '{"n":3}\n');
  });
});

test('a mock reads the items of a request, and rejects a wrong one', async () => {
  const content = 'application/jsonl: { itemSchema: { type: object, required: [n] } }';
  const post = `operationId: a, requestBody: { content: { ${content} } }, responses: { '204': { description: ok } }`;
  const document = `openapi: 3.2.0\ninfo: { title: A, version: 1.0.0 }\npaths: { /a: { post: { ${post} } } }\n`;
  await withFiles({ 'openapi.yaml': document }, async (folder) => {
    const { client } = await serve(join(folder, 'openapi.yaml'), {}, { missing: 'mock' });
    const send = (body: string) =>
      client.post('/a').set('Content-Type', 'application/jsonl').send(body);
    await send('{"n":1}\n{"n":2}\n').expect(204);
    await send('{"n":1}\n{"m":2}\n').expect(400);
  });
});
