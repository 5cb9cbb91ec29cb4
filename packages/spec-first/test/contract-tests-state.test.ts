import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createApp } from 'spec-first-server';
import { withFiles } from 'test-support/documents';
import { failures } from './contract-tests/failures.ts';
import { STORE_FAULTS, type StoreFault, storeHandlers } from './contract-tests/store.ts';

const document = join(import.meta.dirname, 'contract-tests/store.yaml');
const failuresOf = (fault?: StoreFault, last?: string) =>
  failures({ document, app: createApp({ document, handlers: storeHandlers(fault) }) }, last);

const AFTER_CHANGES = 'operations follow the document after others have changed the data';

/** A part of the name of the test that finds each fault, and the message. */
const EXPECTED: Record<StoreFault, readonly [name: string, message: RegExp]> = {
  'missing 404': ['deleteOrder', /the status 500 is a failure of the service/],
  'missing header': ['createOrder', /the status 500 is a failure of the service/],
  'crash on one enum value': ['createOrder', /the status 500 .*.*"channel":"phone"/s],
  'crash on two items': ['createOrder', /the status 500 is a failure of the service/],
  'wrong date format': ['createOrder', /the status 500 is a failure of the service/],
  'PATCH keeps nothing': ['changeOrder', /\/note was sent as .*, and is .* in the reply/],
  'DELETE deletes nothing': [
    'deleteOrder',
    /GET after the deletion has the status 200, not 404 or 410/,
  ],
  'voucher crash': ['payOrder', /the status 500 .*.*"kind":"Voucher"/s],
  'rounded int64': ['createOrder', /\/number was sent as \S+, and is \S+ in the reply/],
  'lost second page': [
    'listOrders',
    /the 1 items in pages of 1 differ from the \d+ items in one large page/,
  ],
  'created but not stored': [
    'createOrder',
    /GET \/orders\/\{orderId\} has the status 404 for a stored resource/,
  ],
  'note lost in the list of members': ['createOrder', /\/note was sent as .*, and is missing/],
  'crash on a paid order': [
    AFTER_CHANGES,
    /^GET \/orders\/\{orderId\} \(getOrder\) does not follow the document.*the status 500 is a failure/s,
  ],
};

test('contract tests call each operation of a store successfully', async () => {
  expect(await failuresOf()).toEqual({});
});

test.each(STORE_FAULTS)('contract tests find a store with: %s', async (fault) => {
  const [name, message] = EXPECTED[fault];
  const failed = Object.entries(await failuresOf(fault, name));
  const [, text] = failed.find(([title]) => title.includes(name)) ?? [];
  expect(text).toMatch(message);
});

/** Runs the contract tests of `POST /things` with these schemas against a listener. */
const failuresOfThings = (app: RequestListener, schemas: object, schema: object) => {
  const content = { 'application/json': { schema } };
  const post = {
    operationId: 'addThing',
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { type: 'string' } } },
    },
    responses: { '200': { description: '', content }, '400': { description: '' } },
  };
  const info = { title: 'Things', version: '1.0.0' };
  const root = { openapi: '3.1.0', info, paths: { '/things': { post } }, components: { schemas } };
  return withFiles({ 'things.json': JSON.stringify(root) }, (folder) =>
    failures({ document: join(folder, 'things.json'), app, runs: 10 }),
  );
};

/** Responds with a body, or with a status to requests that `statusOf` rejects. */
const responder =
  (body: string, statusOf: (text: string) => number): RequestListener =>
  async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const isRejected = request.url !== '/things' || !/^"/.test(text) || text === '{"';
    const isJson = request.headers['content-type'] === 'application/json';
    const status = isRejected || !isJson ? 400 : statusOf(text);
    if (status !== 200) response.writeHead(status).end();
    else response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
  };

test('replies with decimals, large integers, write-only members and mapped values are valid', async () => {
  const part = (name: string) => ({
    type: 'object',
    required: ['kind', name],
    properties: { kind: { type: 'string' }, [name]: {} },
  });
  const schemas = { One: part('one'), Two: part('two') };
  const refs = Object.keys(schemas).map((name) => ({ $ref: `#/components/schemas/${name}` }));
  const schema = {
    type: 'object',
    required: ['price', 'id', 'secret', 'part'],
    properties: {
      price: { type: 'number', multipleOf: 0.01 },
      id: { type: 'integer', format: 'int64', minimum: 2 ** 53 },
      secret: { type: 'string', writeOnly: true },
      part: { oneOf: refs, discriminator: { propertyName: 'kind' } },
    },
  };
  const body = (price: string) =>
    `{"price":${price},"id":9223372036854775807,"part":{"kind":"Two","one":1,"two":2}}`;
  const run = (price: string) =>
    failuresOfThings(
      responder(body(price), () => 200),
      schemas,
      schema,
    );
  for (const price of ['19.99', '4.35', '1.1']) expect(await run(price)).toEqual({});
  expect(Object.values(await run('1.005'))).toEqual([expect.stringContaining('/price must be')]);
});

test.each([
  [413, undefined],
  [409, 'the status 409 is not declared (200, 400)'],
])('an undeclared status %i is reported: %s', async (rejection, message) => {
  const statusOf = (text: string) => (text.length > 10 ? rejection : 200);
  const [failure] = Object.values(
    await failuresOfThings(responder('1', statusOf), {}, { type: 'integer' }),
  );
  if (message === undefined) expect(failure).toBeUndefined();
  else expect(failure).toContain(message);
});

test('cursors are only sent if a reply had them, and dates with such a name are sent', async () => {
  const content = { 'application/json': { schema: { type: 'object' } } };
  const listOf = (id: string, schema: object) => ({
    get: {
      operationId: id,
      parameters: [{ name: 'after', in: 'query', schema }],
      responses: { '200': { description: '', content }, '400': { description: '' } },
    },
  });
  const text = { type: 'string' };
  const info = { title: 'Lists', version: '1.0.0' };
  const paths = {
    '/pages': listOf('pages', text),
    '/last': listOf('last', text),
    '/dates': listOf('dates', { ...text, format: 'date-time' }),
  };
  const sent = new Map<string, Set<string>>();
  const app: RequestListener = (request, response) => {
    const { pathname = '', searchParams } = URL.parse(`http://a${request.url}`) ?? {};
    const values = sent.get(pathname) ?? new Set();
    sent.set(pathname, values.add(searchParams?.get('after') ?? 'none'));
    const isValid =
      !searchParams?.has('undeclaredParameter') &&
      (pathname !== '/dates' || /^$|\d:\d/.test(searchParams?.get('after') ?? ''));
    response.writeHead(isValid ? 200 : 400, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ items: [], next: pathname === '/pages' ? 'page-2' : null }));
  };
  const root = { openapi: '3.1.0', info, paths };
  await withFiles({ 'lists.json': JSON.stringify(root) }, async (folder) => {
    await failures({ document: join(folder, 'lists.json'), app, runs: 20 });
  });
  expect(sent.get('/pages')).toEqual(new Set(['none', 'page-2']));
  expect(sent.get('/last')).toEqual(new Set(['none']));
  expect([...(sent.get('/dates') ?? [])].filter((value) => /T\d/.test(value))).not.toEqual([]);
});
