import { describe, expect, test } from '@jest/globals';
import { started } from './support/started.ts';

describe('an operation without a handler', () => {
  const text = `paths:\n  /a:\n    get:\n      operationId: a\n      parameters: [{ name: q, in: query, schema: { type: integer } }]\n      responses: { '200': { description: done, content: { application/json: { schema: { type: object, required: [n], properties: { n: { type: integer, const: 5 } } } } } }, '404': { description: none } }\n`;

  test('answers 501 if the option says so', async () => {
    const { client } = await started(text, {}, { missing: '501' });
    await client?.get('/a').expect(501);
    await client?.get('/a?q=x').expect(400);
  });

  test('is mocked if the option says so: requests are checked, and the client can prefer a response', async () => {
    const { client } = await started(text, {}, { missing: 'mock' });
    await client?.get('/a').expect(200, { n: 5 }).expect('X-Mock', 'true');
    await client?.get('/a').set('Prefer', 'code=404').expect(404, '');
    await client?.get('/a').set('Prefer', 'code=500').expect(400);
    await client?.get('/a?q=x').expect(400);
  });
});

describe('a mock', () => {
  const mocked = async (responses: string, more = '') =>
    (
      await started(
        `paths:\n  /a:\n    get:\n      operationId: a\n      responses: ${responses}\n${more}`,
        {},
        { missing: 'mock' },
      )
    ).client;
  const json = (media: string) => `{ '200': { description: it, content: { application/json: ${media} } } }`;

  test('has no body if the status has none', async () => {
    const client = await mocked(
      '{ default: { description: any, content: { application/json: { schema: { type: object } } } } }',
    );
    for (const status of [204, 304]) await client?.get('/a').set('Prefer', `code=${status}`).expect(status, '');
  });

  test('is JSON if the client accepts it, and a concrete type of a range', async () => {
    const content = 'application/xml: { schema: { type: object } }, application/json: { example: { n: 1 } }';
    const client = await mocked(`{ '200': { description: it, content: { ${content} } } }`);
    await client?.get('/a').expect(200, { n: 1 });
    await client?.get('/a').set('Accept', 'application/xml').expect(200).expect('Content-Type', 'application/xml');
    const any = await mocked("{ '200': { description: it, content: { '*/*': { schema: { type: object } } } } }");
    await any?.get('/a').expect(200, {});
    const image = await mocked("{ '200': { description: it, content: { 'image/*': {} } } }");
    await image?.get('/a').expect(200).expect('Content-Type', 'image/png');
  });

  test('shows the example that the client names', async () => {
    const client = await mocked(json('{ examples: { one: { value: 1 }, two: { value: 2 } } }'));
    await client?.get('/a').expect(200, '1');
    await client?.get('/a').set('Prefer', 'example=two').expect(200, '2').expect('Preference-Applied', 'example=two');
    const { body } = (await client?.get('/a').set('Prefer', 'example=three').expect(400)) ?? {};
    expect(body.message).toBe('/header/Prefer example must be one of the declared examples: one, two');
  });

  test('of a failure says which status it is', async () => {
    const media =
      '{ schema: { type: object, required: [error], properties: { error: { type: integer } } }, example: { error: 503 } }';
    const client = await mocked(
      `{ '204': { description: it }, default: { description: fault, content: { application/json: ${media} } } }`,
    );
    const { body } = (await client?.get('/a').set('Prefer', 'code=404').expect(404)) ?? {};
    expect(body).toMatchObject({ error: 404 });
  });

  test('has the required headers with their examples', async () => {
    const headers = 'headers: { X-Next: { required: true, example: abc, schema: { type: string, pattern: ^abc$ } } }';
    await (await mocked(`{ '204': { description: it, ${headers} } }`))?.get('/a').expect(204).expect('X-Next', 'abc');
  });

  test('that cannot be generated answers 501 and says what helps', async () => {
    const client = await mocked(json('{ schema: { type: string, pattern: ^abc$ } }'));
    const { body } = (await client?.get('/a').expect(501)) ?? {};
    expect(body.message).toMatch(
      /^no answer could be made: give the response an example in the document \(a answered 200: \/body must match/,
    );
    await (await mocked('{}'))?.get('/a').expect(501);
  });
});
