import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { DocumentError } from 'openapi-document';
import { type Options, serve, withFiles } from 'test-support/documents';
import type { AnyHandler } from '../src/core/handlers/types.ts';

const HEAD = 'openapi: 3.1.0\ninfo: { title: A, version: 1.0.0 }\n';
const DONE = "responses: { '204': { description: done } }";
const done: AnyHandler = () => ({ status: 204 });

/** The paths in notices and errors are relative. */
async function started(
  files: string | Record<string, string>,
  handlers: Record<string, AnyHandler> = { a: done },
  options?: Options,
) {
  const sources = typeof files === 'string' ? { 'openapi.yaml': HEAD + files } : files;
  return withFiles(sources, async (folder) => {
    const relative = (text: string) => text.replaceAll(`${folder}/`, '');
    try {
      const { lines, client } = await serve(join(folder, 'openapi.yaml'), handlers, options);
      const notices = lines.flatMap(({ locations }) =>
        Array.isArray(locations) ? locations.map(relative) : [],
      );
      return { notices, client, lines, error: undefined };
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      return { notices: [], lines: [], error: relative(error.message) };
    }
  });
}

const operation = (members: string, path = '/a') =>
  `paths:\n  ${path}:\n    get:\n      operationId: a\n      ${members}\n      ${DONE}\n`;

test('an operation whose discriminator refers to an invalid schema answers 501', async () => {
  const text = `${operation(
    'parameters: [{ name: q, in: query, schema: { $ref: "#/components/schemas/Pet" } }]',
  )}components:
  schemas:
    Pet: { type: object, properties: { kind: { type: string } }, discriminator: { propertyName: kind } }
    Cow: { allOf: [{ $ref: "#/components/schemas/Pet" }, { properties: { milk: { pattern: "(" } } }] }
`;
  const { client } = await started(text, {}, { missing: 'mock' });
  await client?.get('/a').expect(501);
});

describe('the start fails, with the location of', () => {
  test.each<[string, string | Record<string, string>, string]>([
    [
      'an error in another file',
      {
        'openapi.yaml': `${HEAD}${operation("parameters: [{ $ref: 'p.yaml#/P' }]")}`,
        'p.yaml': 'P:\n  name: q\n  in: query\n  schema:\n    type: string\n    pattern: "("\n',
      },
      'p.yaml:4:3 ( is not a valid regular expression',
    ],
    [
      'a missing security scheme',
      operation('security: [{ token: [] }]'),
      'openapi.yaml:5:5 security scheme token is not in components.securitySchemes',
    ],
    [
      'a security scheme without a verifier',
      `${operation('security: [{ basic: [] }]')}components: { securitySchemes: { basic: { type: http, scheme: basic } } }\n`,
      'openapi.yaml:9:34 nothing verifies credentials of this scheme',
    ],
    [
      'a missing handler with the name of a member of every object',
      `paths:\n  /a: { get: { operationId: toString, ${DONE} } }\n`,
      'operation toString has no handler',
    ],
    [
      'a handler without an operation',
      'paths: {}\n',
      'openapi.yaml:3:1 the handler a has no operation: rename or remove it',
    ],
  ])('%s', async (_title, files, message) => {
    expect((await started(files)).error).toContain(message);
  });

  test('all errors at once', async () => {
    const { error } = await started(
      `paths:\n  /a: { get: { operationId: a, responses: 5 } }\n  /b: { get: { operationId: b, ${DONE} } }\n`,
      { a: done },
    );
    expect(error?.split('\n')).toEqual([
      'openapi.yaml:4:32 must be object, but responses is 5',
      'openapi.yaml:5:9 operation b has no handler: run npm run stub -- b',
    ]);
  });
});

describe('an operation that cannot be served', () => {
  const text = `paths:
  /a: { get: { operationId: a, ${DONE} } }
  /b: { get: { operationId: b, parameters: [{ $ref: '#/components/parameters/P' }], ${DONE} } }
  /c: { get: { operationId: c, security: [{ key: [] }], ${DONE} } }
  /d: { get: { operationId: d, parameters: [{ name: q, in: query, schema: { pattern: '(' } }], ${DONE} } }
`;

  test('answers 501, and the others are served', async () => {
    const { client, lines, error } = await started(text);
    expect(error).toBeUndefined();
    await client?.get('/a').expect(204);
    for (const path of ['/b', '/c', '/d']) {
      const answer = await client?.get(path).expect(501);
      expect(answer?.text).toContain('cannot be served');
    }
    await client?.get('/readyz').expect(200, { status: 'ready', notServed: ['b', 'c', 'd'] });
    for (const id of ['b', 'c', 'd']) {
      const msg = `${id} cannot be served and responds with 501`;
      expect(lines).toContainEqual(expect.objectContaining({ operationId: id, msg }));
    }
  });

  test('fails the start if it has a handler, or with the option strict', async () => {
    expect((await started(text, { a: done, b: done })).error).toContain('does not exist');
    expect((await started(text, { a: done }, { strict: true })).error?.split('\n')).toHaveLength(3);
  });
});

test('an operation takes precedence over a path of the server', async () => {
  const { client } = await started(operation('summary: x', '/healthz'));
  await client?.get('/healthz').expect(204);
});

test('an operation without an operationId is named by its method and path', async () => {
  const { error } = await started(
    `paths:\n  /books/{book-id}/loans:\n    get: { parameters: [{ name: book-id, in: path, required: true, schema: {} }], ${DONE} }\n`,
    {},
  );
  expect(error).toBe(
    'openapi.yaml:5:5 operation getBooksByBookIdLoans has no handler: run npm run stub -- getBooksByBookIdLoans',
  );
});

test('mocked operations need no verifier for their security schemes, others do', async () => {
  const text = `${operation('security: [{ basic: [] }]')}components: { securitySchemes: { basic: { type: http, scheme: basic } } }\n`;
  expect((await started(text, {}, { missing: 'mock' })).error).toBeUndefined();
  expect((await started(text, { a: done }, { missing: 'mock' })).error).toBe(
    'openapi.yaml:9:34 nothing verifies credentials of this scheme: add verifiers: { "basic": … } to the options or to the result of open',
  );
});

describe('an operation without a handler', () => {
  const text = `paths:\n  /a:\n    get:\n      operationId: a\n      parameters: [{ name: q, in: query, schema: { type: integer } }]\n      responses: { '200': { description: done, content: { application/json: { schema: { type: object, required: [n], properties: { n: { type: integer, const: 5 } } } } } }, '404': { description: none } }\n`;

  test('answers 501 with the option', async () => {
    const { client } = await started(text, {}, { missing: '501' });
    await client?.get('/a').expect(501);
    await client?.get('/a?q=x').expect(400);
  });

  test('is mocked with the option: requests are validated, and the client can prefer a response', async () => {
    const { client } = await started(text, {}, { missing: 'mock' });
    await client?.get('/a').expect(200, { n: 5 }).expect('X-Mock', 'true');
    await client?.get('/a').set('Prefer', 'code=404').expect(404, '');
    await client?.get('/a').set('Prefer', 'code=500').expect(400);
    await client?.get('/a?q=x').expect(400);
  });
});

test('an error response is the example of the document, if errorBody does not match the schema', async () => {
  const media =
    '{ schema: { type: object, required: [why] }, examples: { bad: { value: { x: 1 } }, one: { value: { why: x } } } }';
  const text = operation('summary: x').replace(
    DONE,
    `responses: { '204': { description: done }, '400': { description: fault, content: { application/json: ${media} } } }`,
  );
  const { client } = await started(text);
  await client?.get('/a?b=c').expect(400, { why: 'x' });
});

test('a notice about a location that several operations share is logged once', async () => {
  const shared = `{ operationId: a, parameters: [{ $ref: '#/components/parameters/p' }], ${DONE} }`;
  const { notices } = await started(
    `paths:\n  /a: { get: ${shared}, put: ${shared.replace('a,', 'b,')} }\ncomponents:\n  parameters:\n    p: { name: q, in: query, schema: { format: colour } }\n`,
    { a: done, b: done },
  );
  expect(notices).toHaveLength(1);
});
