import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
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

  test('has no body for a status without one', async () => {
    const client = await mocked(
      '{ default: { description: any, content: { application/json: { schema: { type: object } } } } }',
    );
    for (const status of [204, 304])
      await client.get('/a').set('Prefer', `code=${status}`).expect(status, '');
  });

  test('is JSON if the client accepts it, and has a specific type for a media range', async () => {
    const content =
      'application/xml: { schema: { type: object } }, application/json: { example: { n: 1 } }';
    const client = await mocked(`{ '200': { description: it, content: { ${content} } } }`);
    await client.get('/a').expect(200, { n: 1 });
    await client
      .get('/a')
      .set('Accept', 'application/xml')
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

  test('is the example that the client names', async () => {
    const client = await mocked(json('{ examples: { one: { value: 1 }, two: { value: 2 } } }'));
    await client.get('/a').expect(200, '1');
    await client.get('/a').set('Prefer', 'example=two').expect(200, '2');
    const { body } = await client.get('/a').set('Prefer', 'example=three').expect(400);
    expect(body.message).toBe(
      '/header/Prefer example must be one of the declared examples: one, two',
    );
  });

  test('of a failure contains its status', async () => {
    const media =
      '{ schema: { type: object, required: [error], properties: { error: { type: integer } } }, example: { error: 503 } }';
    const client = await mocked(
      `{ '204': { description: it }, default: { description: fault, content: { application/json: ${media} } } }`,
    );
    const { body } = await client.get('/a').set('Prefer', 'code=404').expect(404);
    expect(body).toMatchObject({ error: 404 });
  });

  test.each([
    ["{ '404': { description: none }, '2XX': { description: ok } }", 200],
    ['{ default: { description: any } }', 200],
    ["{ '404': { description: none } }", 404],
    ["{ '404': { description: none }, '201': { description: ok } }", 201],
  ])('of %s without Prefer has the status %i', async (responses, status) => {
    const answer = await (await mocked(responses)).get('/a');
    expect([answer.status, answer.headers['x-mock']]).toEqual([status, 'true']);
  });

  test.each([
    ["{ '200': { description: ok }, '4XX': { description: wrong } }", 'code=418', 418],
    ["{ '200': { description: ok }, '404': { description: none } }", 'wait=1, code="404"', 404],
    ["{ '200': { description: ok }, '404': { description: none } }", 'mycode=404', 200],
    ["{ '200': { description: ok }, '404': { description: none } }", 'code=500', 400],
    ["{ '200': { description: ok }, default: { description: any } }", 'code=600', 400],
    ["{ '200': { description: ok }, default: { description: any } }", 'code=199', 400],
    ["{ '200': { description: ok }, default: { description: any } }", 'code=x', 400],
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
      expect.objectContaining({ level: 30, msg: 'answered', status: 503, mocked: true }),
    ]);
  });

  test('has the required headers, with their examples', async () => {
    const headers =
      'headers: { X-Next: { required: true, example: abc, schema: { type: string, pattern: ^abc$ } } }';
    await (await mocked(`{ '204': { description: it, ${headers} } }`))
      .get('/a')
      .expect(204)
      .expect('X-Next', 'abc');
  });

  test('has headers that match their schemas', async () => {
    const header = (schema: string) => `{ required: true, schema: ${schema} }`;
    const headers = `headers: { X-Code: ${header('{ type: string, pattern: "^[A-Z]{2}$" }')}, X-Count: ${header('{ type: integer, multipleOf: 7, minimum: 1 }')} }`;
    const client = await mocked(`{ '204': { description: it, ${headers} } }`);
    const answer = await client
      .get('/a')
      .expect(204)
      .expect('X-Code', /^[A-Z]{2}$/);
    expect(Number(answer.headers['x-count']) % 7).toBe(0);
  });

  describe('is generated for a response of', () => {
    const schemas = [
      '{ type: string, pattern: "^[A-Z]{3}-[0-9]{4}$" }',
      '{ type: string, pattern: "^(?=.*[A-Z])(?=.*[0-9]).{8,}$" }',
      '{ oneOf: [{ type: "null" }, { type: object, required: [n], properties: { n: { type: integer, minimum: 5 } } }] }',
      '{ $ref: "#/components/schemas/Tree" }',
      '{ $ref: "#/components/schemas/Linked" }',
      '{ type: string, format: byte }',
      '{ type: string, format: duration }',
      '{ type: array, items: { type: integer, minimum: 1, maximum: 3 }, minItems: 3, uniqueItems: true }',
      '{ type: array, items: { type: string }, minItems: 3, uniqueItems: true }',
      '{ type: integer, minimum: 7, maximum: 12, multipleOf: 5 }',
      '{ type: number, minimum: 0.05, exclusiveMaximum: 0.3, multipleOf: 0.1 }',
      '{ type: array, contains: { const: 7 }, items: { type: integer }, minItems: 2 }',
      '{ allOf: [{ type: object, required: [a], properties: { a: { type: integer } } }, { type: object, required: [b], properties: { b: { type: string, pattern: "^x+$" } } }] }',
      '{ type: object, required: [a], properties: { a: { type: string }, b: { type: string, writeOnly: true } } }',
      '{ type: string, not: { enum: [string] } }',
      String.raw`{ type: string, pattern: '^[\p{L}\p{N} ]{3}$' }`,
      '{ $ref: "#/components/schemas/S0" }',
      '{ type: object, minProperties: 2, required: [a], properties: { a: { type: string }, b: { type: integer } }, additionalProperties: false }',
      '{ allOf: [{ type: integer }, { type: number, minimum: 3 }] }',
      '{ type: string, format: date-time, minLength: 5 }',
      '{ type: string, format: url }',
      '{ type: object, required: [a], properties: { a: { type: object, nullable: false, additionalProperties: { pattern: "^x$", type: string } } } }',
      '{ type: object, required: [x, y], properties: { x: { type: string, pattern: "^x+$" }, y: { $ref: "#/paths/%7E122/get/responses/200/content/application~1json/schema/properties/x" } } }',
    ];
    let client: Awaited<ReturnType<typeof mocked>>;
    beforeAll(async () => {
      const nested = Array.from({ length: 12 }, (_, index) => {
        const next =
          index === 11
            ? '{ type: string, minLength: 3 }'
            : `{ $ref: "#/components/schemas/S${index + 1}" }`;
        return `    S${index}: { type: object, required: [a], properties: { a: ${next} } }\n`;
      });
      const components = `components:
  schemas:
${nested.join('')}    Tree: { type: object, required: [id, children], properties: { id: { type: integer }, children: { type: array, items: { $ref: "#/components/schemas/Tree" } } } }
    Linked: { type: object, required: [value], properties: { value: { type: string }, next: { $ref: "#/components/schemas/Linked" } } }
`;
      const paths = schemas.map(
        (schema, index) =>
          `  /${index}: { get: { operationId: a${index}, responses: ${json(`{ schema: ${schema} }`)} } }\n`,
      );
      client = await mocked(json('{}'), paths.join('') + components);
    });
    test.each(schemas.map((schema, index) => [schema, index] as const))(
      '%s',
      async (_schema, index) => {
        await client.get(`/${index}`).expect(200);
      },
    );
  });

  test('is generated if many schemas reference each other', async () => {
    const levels = Array.from({ length: 30 }, (_, index) => index);
    const properties = (index: number) =>
      levels
        .slice(0, 8)
        .map((step) => `p${step}: { $ref: "#/components/schemas/S${(index * 7 + step) % 30}" }`);
    const schemas = levels.map(
      (index) => `    S${index}: { type: object, properties: { ${properties(index).join(', ')} } }`,
    );
    const components = `components:\n  schemas:\n${schemas.join('\n')}\n`;
    await (await mocked(json('{ schema: { $ref: "#/components/schemas/S1" } }'), components))
      .get('/a')
      .expect(200);
  });

  test.each([
    ['application/x-ndjson', /^\{"n":-?\d+\}\n$/],
    ['text/csv', /^a mock of text\/csv$/],
  ])('is generated for %s', async (type, text) => {
    const schema =
      '{ type: object, xml: { name: it }, required: [n], properties: { n: { type: integer } } }';
    const client = await mocked(
      `{ '200': { description: it, content: { ${type}: { schema: ${schema} } } } }`,
    );
    const response = await client
      .get('/a')
      .buffer(true)
      .parse((body, done) => {
        let read = '';
        body.on('data', (chunk) => {
          read += chunk;
        });
        body.on('end', () => done(null, read));
      })
      .expect(200);
    expect(response.body).toMatch(text);
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
    await client.get('/a').set('Prefer', 'example=bad').expect(200, {});
    expect(lines.at(-1)?.reason).toContain('/examples/bad: /body/n is required');
    const only = await mocking(json(`{ ${schema}, example: { n: x } }`));
    await only.client.get('/a').expect(200);
    expect(only.lines.at(-1)?.reason).toContain('application~1json/example: ');
  });

  test('sends declared error bodies, and logs that errorBody makes others', async () => {
    const schema = '{ type: object, required: [why], properties: { why: { enum: [fault] } } }';
    const content = `{ application/json: { schema: ${schema} } }`;
    const { client, lines } = await mocking(
      `{ '204': { description: it }, '400': { description: fault, content: ${content} } }`,
      '      parameters: [{ name: n, in: query, schema: { type: integer } }]\n',
    );
    await client.get('/a?n=b').expect(400, { why: 'fault' });
    expect(lines.at(-1)?.reason).toContain('; the body of errorBody does not match');
  });

  test('is the example of the document if no value can be generated that matches', async () => {
    const { client, lines } = await mocking(
      json('{ schema: { type: integer, minimum: 3, maximum: 2 }, example: { n: 1 } }'),
    );
    await client.get('/a').expect(200, { n: 1 });
    expect(lines.at(-1)?.reason).toMatch(
      /^examples that do not match their schemas: .*\/example: \/body must be/,
    );
  });

  test.each([
    ['a very long list', '{ type: array, minItems: 1000000000, items: { type: integer } }'],
    [
      'many items, each of many',
      '{ type: array, minItems: 100000, items: { type: array, minItems: 100000, items: {} } }',
    ],
  ])('of %s is not generated', async (_title, schema) => {
    const client = await mocked(json(`{ schema: ${schema} }`));
    for (let round = 0; round < 100; round += 1) {
      const { body } = await client.get('/a').expect(501);
      expect(body.message).toContain('add an example to the response');
    }
  });

  test('that cannot be generated is a 501; the message suggests an example', async () => {
    const client = await mocked(json('{ schema: { type: integer, minimum: 3, maximum: 2 } }'));
    const { body } = await client.get('/a').expect(501);
    expect(body.message).toMatch(
      /^no answer could be generated: add an example to the response in the document \(\/body must be/,
    );
  });
});

test('a mock streams the examples of items, or one generated from the schema', async () => {
  const event =
    'type: object, properties: { data: { contentMediaType: application/json, contentSchema: { type: object } } }';
  const operations = {
    a: `text/event-stream: { itemSchema: { ${event} }, example: [{ data: { n: 1 } }, { data: '{"n":2}' }] }`,
    b: `text/event-stream: { itemSchema: { ${event} }, example: "data: 1\\n\\ndata: 2\\n\\n" }`,
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
    await client.get('/b').expect(200, 'data: 1\n\ndata: 2\n\n');
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

test('a mock has an alternative of a discriminator, or of a parent schema', async () => {
  const answers = (schema: string) =>
    `responses: { '200': { description: it, content: { application/json: { schema: { $ref: '#/components/schemas/${schema}' } } } } }`;
  const text = `openapi: 3.1.0
info: { title: Pets, version: 1.0.0 }
paths:
  /union: { get: { operationId: union, ${answers('Union')} } }
  /parent: { get: { operationId: parent, ${answers('Parent')} } }
components:
  schemas:
    Union:
      oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }]
      discriminator: { propertyName: petType, mapping: { dog: Dog } }
    Cat: { type: object, required: [petType, name], properties: { petType: { type: string }, name: { type: string } } }
    Dog: { type: object, required: [petType, bark], properties: { petType: { type: string }, bark: { type: string } } }
    Parent: { type: object, required: [kind], properties: { kind: { type: string } }, discriminator: { propertyName: kind } }
    Cow: { allOf: [{ $ref: '#/components/schemas/Parent' }, { type: object, required: [milk], properties: { milk: { type: integer } } }] }
`;
  await withFiles({ 'openapi.yaml': text }, async (folder) => {
    const { client } = await serve(join(folder, 'openapi.yaml'), {}, { missing: 'mock' });
    const union = await client.get('/union').expect(200);
    expect(['Cat', 'dog']).toContain(union.body.petType);
    const parent = await client.get('/parent').expect(200);
    expect(['Cow', 'Parent']).toContain(parent.body.kind);
  });
});
