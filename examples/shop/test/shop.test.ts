import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { loadDocument } from 'openapi-document';
import pg from 'pg';
import { contractTests } from 'spec-first/contract-tests';
import { requestsFor, testService } from 'spec-first/testing';
import { createService } from 'spec-first-server';
import { createClient } from '../generated/client.ts';
import type { Handlers } from '../generated/openapi.ts';
import { openDatabase } from '../src/database.ts';
import { errorBody } from '../src/errors.ts';
import { isIban } from '../src/iban.ts';
import { createOrders, orderHandlers } from '../src/orders.ts';
import { createReports } from '../src/reports.ts';
import { openShop } from '../src/shop.ts';
import { startIssuer } from './support.ts';

type Client = ReturnType<typeof createClient>;

const PROVIDER_KEY = 'provider-key';
const PAGE = 'https://shop.example';
const { TEST_DATABASE_URL } = process.env;
// The time zone of a session must not change results.
process.env.PGOPTIONS = '-c TimeZone=America/New_York';

const [ANN, BOB] = [randomUUID(), randomUUID()];
const issuer = await startIssuer();
after(issuer.stop);
// SQLite in memory, or the empty database of TEST_DATABASE_URL.
const service = testService({
  variables: {
    ...issuer.variables,
    ACCESS_TOKENS: `provider:${PROVIDER_KEY} scheme=paymentProvider`,
    DATABASE_URL: TEST_DATABASE_URL ?? 'sqlite::memory:',
    REQUESTS_PER_MINUTE: '100000',
    CORS_ORIGINS: PAGE,
  },
});
before(service.start);
after(service.stop);

const clientWith = (headers: Record<string, string>) =>
  createClient({ baseUrl: service.url(), headers });
const customer = async (subject: string, scope?: string) =>
  clientWith({ Authorization: `Bearer ${await issuer.tokenFor(subject, scope)}` });

let products = 0;
async function newProduct(shop: Client, stock = 10, price = '19.90') {
  products += 1;
  const id = 9_007_199_254_740_993n + BigInt(products);
  const { status } = await shop.createProduct({
    body: { id, name: 'Lamp', price, stock, tags: ['light'] },
  });
  equal(status, 201);
  return id;
}
const order = (shop: Client, productId: bigint, quantity = 1) =>
  shop.createOrder({
    header: { 'Idempotency-Key': randomUUID() },
    body: { lines: [{ productId, quantity }], deliverOn: '2027-01-31' },
  });

await contractTests({
  ...service,
  credentials: { customer: await issuer.tokenFor(randomUUID()), paymentProvider: PROVIDER_KEY },
  formats: { iban: isIban },
  test,
});

test('a customer is created, changed with If-Match and deleted', async () => {
  const shop = await customer(ANN);
  const email = `${randomUUID()}@shop.example`;
  const created = await shop.createCustomer({
    body: { email, name: 'Ann', password: 'correct horse', birthday: '1990-02-28' },
  });
  ok(created.status === 201);
  equal(created.body.name, 'Ann');
  const { id } = created.body;
  deepEqual(Object.keys(created.body).sort(), ['birthday', 'createdAt', 'email', 'id', 'name']);

  const path = { customerId: id };
  const changed = await shop.updateCustomer({
    path,
    header: { 'If-Match': '"1"' },
    body: { birthday: null },
  });
  ok(changed.status === 200);
  deepEqual([changed.body.birthday, changed.response.headers.get('ETag')], [null, '"2"']);
  const late = await shop.updateCustomer({
    path,
    header: { 'If-Match': '"1"' },
    body: { name: 'B' },
  });
  equal(late.status, 412);

  equal((await shop.deleteCustomer({ path })).status, 204);
  equal((await shop.getCustomer({ path })).status, 404);
});

test('the largest version that If-Match allows gets 412', async () => {
  const shop = await customer(ANN);
  const body = { email: `${randomUUID()}@shop.example`, name: 'Ann', password: 'correct horse' };
  const created = await shop.createCustomer({ body });
  ok(created.status === 201);
  const path = { customerId: created.body.id };
  const header = { 'If-Match': '"999999999999999"' };
  equal((await shop.updateCustomer({ path, header, body: { name: 'B' } })).status, 412);
});

test('products can be read without a token, in pages, by tag and by price', async () => {
  const shop = await customer(ANN);
  for (const price of ['1.00', '2.00', '3.00']) await newProduct(shop, 1, price);
  const anyone = clientWith({});
  const prices: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await anyone.listProducts({
      query: { tags: ['light'], price: { min: '2.00', max: '3.00' }, limit: 1, cursor },
    });
    ok(page.status === 200);
    prices.push(...page.body.items.map(({ price }) => price));
    cursor = page.body.next ?? undefined;
  } while (cursor !== undefined);
  deepEqual(prices, ['2.00', '3.00']);
});

test('tags are compared exactly', async () => {
  const shop = await customer(ANN);
  const body = { id: 424_242, name: 'Pen', price: '1.00', stock: 1, tags: ['Red', '50%', '\\"'] };
  equal((await shop.createProduct({ body })).status, 201);
  const countWith = async (...tags: string[]) =>
    Object((await shop.listProducts({ query: { tags } })).body).items.length;
  for (const tag of body.tags) equal(await countWith(tag), 1);
  equal(await countWith('Red', '50%'), 1);
  for (const tag of ['red', 'R', '___', '%', '50', '","', 'blue']) equal(await countWith(tag), 0);
  equal(await countWith('Red', 'blue'), 0);
});

test('a cursor that is not the `next` of a page gets 400', async () => {
  const shop = await customer(ANN);
  for (const text of ['', 'x', '9'.repeat(30)]) {
    const cursor = Buffer.from(text).toString('base64url');
    equal((await shop.listProducts({ query: { cursor } })).status, 400);
    equal((await shop.listOrders({ query: { cursor } })).status, 400);
  }
});

test('a text that PostgreSQL cannot store exactly gets 400', async () => {
  const shop = await customer(ANN);
  const product = { id: 2, name: 'Lamp', price: '1.00', stock: 1 };
  for (const text of ['\0', '\ud800']) {
    equal((await shop.createProduct({ body: { ...product, name: text } })).status, 400);
    equal((await shop.createProduct({ body: { ...product, tags: [text] } })).status, 400);
  }
  equal((await shop.listProducts({ query: { tags: ['\0'] } })).status, 400);
});

test('a product id beyond 2^53 is exact', async () => {
  const shop = await customer(ANN);
  const id = await newProduct(shop);
  const read = await shop.getProduct({ path: { productId: id } });
  ok(read.status === 200);
  equal(read.body.id, id);
});

test('a request with the same idempotency key gets the same order', async () => {
  const shop = await customer(ANN);
  const productId = await newProduct(shop, 10);
  const request = {
    header: { 'Idempotency-Key': 'once' },
    body: { lines: [{ productId, quantity: 2 }] },
  };
  const [first, second] = [await shop.createOrder(request), await shop.createOrder(request)];
  ok(first.status === 201 && second.status === 201);
  deepEqual([first.body.id, first.body.total], [second.body.id, '39.80']);
  const { body } = await shop.getProduct({ path: { productId } });
  equal(Object(body).stock, 8);
});

test('concurrent requests with the same idempotency key get the same order', async () => {
  const shop = await customer(ANN);
  for (let round = 0; round < 5; round += 1) {
    const productId = await newProduct(shop, 2);
    const request = {
      header: { 'Idempotency-Key': randomUUID() },
      body: { lines: [{ productId, quantity: 2 }] },
    };
    const replies = await Promise.all(Array.from({ length: 5 }, () => shop.createOrder(request)));
    for (const { status } of replies) equal(status, 201);
    equal(new Set(replies.map(({ body }) => Object(body).id)).size, 1);
    equal(Object((await shop.getProduct({ path: { productId } })).body).stock, 0);
  }
});

test('concurrent orders of the same products in any order succeed, and keep their lines', async () => {
  const shop = await customer(ANN);
  const ids = [
    await newProduct(shop, 100),
    await newProduct(shop, 100),
    await newProduct(shop, 100),
  ];
  const place = async (productIds: readonly bigint[]) => {
    const { status, body } = await shop.createOrder({
      header: { 'Idempotency-Key': randomUUID() },
      body: { lines: productIds.map((productId) => ({ productId, quantity: 1 })) },
    });
    equal(status, 201);
    deepEqual(
      Object(body).lines.map((line: { productId: bigint }) => line.productId),
      productIds,
    );
  };
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => place(index % 2 === 0 ? ids : ids.toReversed())),
  );
});

test('orders are listed in pages, the latest first', async () => {
  const shop = await customer(randomUUID());
  const productId = await newProduct(shop);
  const placed: unknown[] = [];
  for (let count = 0; count < 5; count += 1)
    placed.push(Object((await order(shop, productId)).body).id);
  const listed: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await shop.listOrders({ query: { limit: 2, cursor } });
    ok(page.status === 200);
    listed.push(...page.body.items.map(({ id }) => id));
    cursor = page.body.next ?? undefined;
  } while (cursor !== undefined);
  deepEqual(listed, placed.toReversed());
});

test('a cancelled order returns its products to the stock', async () => {
  const shop = await customer(ANN);
  const productId = await newProduct(shop, 3);
  const placed = await order(shop, productId, 2);
  ok(placed.status === 201);
  const path = { orderId: placed.body.id };
  equal((await shop.cancelOrder({ path })).status, 200);
  equal((await shop.cancelOrder({ path })).status, 409);
  equal(Object((await shop.getProduct({ path: { productId } })).body).stock, 3);
});

test('a token that names no customer places no order', async () => {
  for (const subject of ['ann', '']) {
    const shop = await customer(subject);
    equal((await order(shop, await newProduct(shop))).status, 403);
  }
});

test('an order above the stock gets a problem with a type, and changes no stock', async () => {
  const shop = await customer(ANN);
  const productId = await newProduct(shop, 1);
  const { status, body } = await order(shop, productId, 2);
  equal(status, 409);
  equal(Object(body).type, '/problems/out-of-stock');
  equal(Object((await shop.getProduct({ path: { productId } })).body).stock, 1);
});

test('no operation with an id of a customer works for another customer', async () => {
  const customerId = randomUUID();
  const [ann, bob] = [await customer(customerId), await customer(BOB)];
  const email = `${customerId}@shop.example`;
  const profile = { email, name: 'Ann', password: 'correct horse' };
  equal((await ann.createCustomer({ body: profile })).status, 201);
  const placed = await order(ann, await newProduct(ann));
  ok(placed.status === 201);
  const orderId = placed.body.id;
  const file = new File(['%PDF-1.7'], 'invoice.pdf', { type: 'application/pdf' });
  const upload = { path: { orderId }, body: { file, kind: 'invoice' as const } };
  const stored = await ann.uploadDocument(upload);
  ok(stored.status === 201);

  const path = { customerId, orderId, documentId: stored.body.id };
  const card = { method: 'card' as const, token: 'tok_0000004242' };
  const calls: Record<string, (shop: Client) => Promise<{ readonly status: unknown }>> = {
    getCustomer: (shop) => shop.getCustomer({ path }),
    updateCustomer: (shop) =>
      shop.updateCustomer({ path, header: { 'If-Match': '"1"' }, body: { name: 'B' } }),
    getOrder: (shop) => shop.getOrder({ path }),
    watchOrder: (shop) => shop.watchOrder({ path }, { reconnect: false }),
    payOrder: (shop) => shop.payOrder({ path, body: card }),
    uploadDocument: (shop) => shop.uploadDocument(upload),
    downloadDocument: (shop) => shop.downloadDocument({ path }),
    cancelOrder: (shop) => shop.cancelOrder({ path }),
    deleteCustomer: (shop) => shop.deleteCustomer({ path }),
  };
  const { operations } = await loadDocument('openapi.yaml');
  const withOwner = operations.filter((each) => /\{(?!productId|reportId)/.test(each.path));
  deepEqual(Object.keys(calls).sort(), withOwner.map(({ id }) => id).sort());
  const statusesFor = async (shop: Client) => {
    const statuses: Record<string, unknown> = {};
    for (const [name, call] of Object.entries(calls)) statuses[name] = (await call(shop)).status;
    return statuses;
  };
  deepEqual(new Set(Object.values(await statusesFor(bob))), new Set([404]));
  const succeeded = new Set([200, 201, 204]);
  deepEqual(new Set(Object.values(await statusesFor(ann))), succeeded);
});

test('a page of orders needs two queries', async () => {
  const database = await openDatabase('sqlite::memory:');
  after(() => database.destroy());
  let queries = 0;
  const counted = database.withPlugin({
    transformQuery({ node }) {
      queries += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  for (const id of ['a', 'b', 'c']) {
    const placed = { id, customerId: ANN, status: 'open' as const, cents: 0, placedAt: '' };
    const values = { ...placed, idempotencyKey: id, request: '' };
    await database.insertInto('orders').values(values).execute();
  }
  const { listOrders } = orderHandlers(counted, createOrders(counted));
  const caller = { subject: ANN, scopes: new Set<string>() };
  const { body } = await listOrders(
    requestsFor<Handlers>()('listOrders', { caller, query: { limit: 20 } }),
  );
  deepEqual([Object(body).items.length, queries], [3, 2]);
});

test('the event stream of an order ends when the provider notifies the payment', async () => {
  const [shop, provider] = [await customer(ANN), clientWith({ 'X-Api-Key': PROVIDER_KEY })];
  const placed = await order(shop, await newProduct(shop));
  ok(placed.status === 201);
  const path = { orderId: placed.body.id };
  const watched = await shop.watchOrder({ path }, { reconnect: false });
  ok(watched.status === 200);

  const paid = await shop.payOrder({ path, body: { method: 'card', token: 'tok_0000004242' } });
  ok(paid.status === 201);
  deepEqual(paid.body.method, { method: 'card', lastDigits: '4242' });
  const notification = { body: { paymentId: paid.body.id, state: 'received' as const } };
  equal((await provider.notifyPayment(notification)).status, 204);
  equal((await provider.notifyPayment(notification)).status, 204);

  const statuses: string[] = [];
  for await (const { data } of watched.body) statuses.push(data.status);
  deepEqual(statuses, ['open', 'paid']);
});

test('an order has one payment, also after concurrent requests', async () => {
  const shop = await customer(ANN);
  const placed = await order(shop, await newProduct(shop));
  ok(placed.status === 201);
  const path = { orderId: placed.body.id };
  const pay = () => shop.payOrder({ path, body: { method: 'card', token: 'tok_0000004242' } });
  const statuses = (await Promise.all([pay(), pay(), pay()])).map(({ status }) => status);
  deepEqual(statuses.sort(), [201, 409, 409]);
  equal(Object((await pay()).body).type, '/problems/payment-exists');
});

test('each payment notification for a cancelled order succeeds, and changes no status', async () => {
  const [shop, provider] = [await customer(ANN), clientWith({ 'X-Api-Key': PROVIDER_KEY })];
  const placed = await order(shop, await newProduct(shop));
  ok(placed.status === 201);
  const path = { orderId: placed.body.id };
  const paid = await shop.payOrder({ path, body: { method: 'card', token: 'tok_0000004242' } });
  ok(paid.status === 201);
  equal((await shop.cancelOrder({ path })).status, 200);
  const notification = { body: { paymentId: paid.body.id, state: 'received' as const } };
  equal((await provider.notifyPayment(notification)).status, 204);
  equal((await provider.notifyPayment(notification)).status, 204);
  equal(Object((await shop.getOrder({ path })).body).status, 'cancelled');
  equal((await shop.payOrder({ path, body: { method: 'voucher', code: 'ABCD1234' } })).status, 409);
});

test('the custom format `iban` rejects a wrong checksum', async () => {
  const shop = await customer(ANN);
  const placed = await order(shop, await newProduct(shop));
  ok(placed.status === 201);
  const path = { orderId: placed.body.id };
  const wrong = await shop.payOrder({
    path,
    body: { method: 'transfer', iban: 'DE89370400440532013001' },
  });
  equal(wrong.status, 400);
  match(String(Object(wrong.body).detail), /\/body\/iban/);
  const right = await shop.payOrder({
    path,
    body: { method: 'transfer', iban: 'DE89370400440532013000' },
  });
  equal(right.status, 201);
});

test('a file is uploaded and downloaded, and an undeclared type is rejected', async () => {
  const shop = await customer(ANN);
  const placed = await order(shop, await newProduct(shop));
  ok(placed.status === 201);
  const path = { orderId: placed.body.id };
  const file = new File(['%PDF-1.7'], 'invoice.pdf', { type: 'application/pdf' });
  const stored = await shop.uploadDocument({ path, body: { file, kind: 'invoice' } });
  ok(stored.status === 201);
  const read = await shop.downloadDocument({ path: { documentId: stored.body.id } });
  equal(read.status, 200);
  equal(await new Response(read.body as ReadableStream).text(), '%PDF-1.7');

  const page = new File(['<p>'], 'page.html', { type: 'text/html' });
  const rejected = await shop.uploadDocument({ path, body: { file: page, kind: 'invoice' } });
  ok([400, 415].includes(rejected.status as number));
});

test('a report is created in the background', async () => {
  const shop = await customer(ANN);
  const started = await shop.startReport({ body: { from: '2026-01-01', to: '2099-01-01' } });
  ok(started.status === 202);
  const path = { reportId: started.body.id };
  for (;;) {
    const { status, body } = await shop.getReport({ path });
    ok(status === 200);
    if (body.state === 'done') break;
  }
});

async function openReports() {
  const database = await openDatabase(TEST_DATABASE_URL ?? 'sqlite::memory:');
  after(() => database.destroy());
  const errors: unknown[] = [];
  const { handlers, finished } = createReports(database, (error) => errors.push(error));
  const requestTo = requestsFor<Handlers>();

  return {
    database,
    errors,
    finished,
    async startReport(from: string, to: string): Promise<string> {
      const { body } = await handlers.startReport(requestTo('startReport', { body: { from, to } }));
      return Object(body).id;
    },
    async getReport(reportId: string) {
      const { body } = await handlers.getReport(requestTo('getReport', { path: { reportId } }));
      return [Object(body).state, Object(body).revenue];
    },
  };
}

test('the days of a report are days of UTC', async () => {
  const { database, startReport, getReport, finished } = await openReports();
  const placedTimes = [
    '2000-12-31T23:59:59.999Z',
    '2001-01-01T00:00:00.000Z',
    '2001-01-01T02:00:00.000Z',
    '2001-01-01T23:59:59.999Z',
    '2001-01-02T00:00:00.000Z',
  ];
  for (const [index, placedAt] of placedTimes.entries()) {
    const id = randomUUID();
    const order = { id, customerId: ANN, status: 'paid' as const, cents: 10 ** index, placedAt };
    await database
      .insertInto('orders')
      .values({ ...order, idempotencyKey: id, request: '' })
      .execute();
  }
  const id = await startReport('2001-01-01', '2001-01-01');
  await finished();
  deepEqual(await getReport(id), ['done', '11.10']);
});

test('a report that failed is created when it is requested again', async () => {
  const { database, errors, startReport, getReport, finished } = await openReports();
  await database.schema.alterTable('orders').renameTo('moved').execute();
  const id = await startReport('2002-01-01', '2002-01-01');
  await finished();
  await database.schema.alterTable('moved').renameTo('orders').execute();
  equal(errors.length, 1);
  match(String(errors[0]), /orders/);
  deepEqual(await getReport(id), ['running', undefined]);
  await finished();
  deepEqual(await getReport(id), ['done', '0.00']);
});

test('lost connections of PostgreSQL are replaced', { skip: !TEST_DATABASE_URL }, async () => {
  const shop = await customer(ANN);
  const client = new pg.Client({ connectionString: TEST_DATABASE_URL });
  await client.connect();
  const productId = await newProduct(shop, 1000);
  for (let round = 0; round < 5; round += 1) {
    const orders = Promise.all(Array.from({ length: 20 }, () => order(shop, productId)));
    await client.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()',
    );
    await orders;
  }
  await client.end();
  equal((await order(shop, productId)).status, 201);
});

test('a credential is accepted for its own scheme only, and a token needs the scope', async () => {
  const token = await issuer.tokenFor(ANN);
  const notification = { body: { paymentId: randomUUID(), state: 'received' as const } };
  equal((await clientWith({ 'X-Api-Key': token }).notifyPayment(notification)).status, 401);
  const path = { orderId: randomUUID() };
  const withKey = clientWith({ Authorization: `Bearer ${PROVIDER_KEY}` });
  equal((await withKey.getOrder({ path })).status, 401);
  const unscoped = clientWith({ Authorization: `Bearer ${service.unscoped}` });
  for (const shop of [unscoped, await customer(ANN, 'reports:read')])
    equal((await order(shop, 1n)).status, 403);
  equal((await unscoped.getCustomer({ path: { customerId: randomUUID() } })).status, 403);
});

test('only origins in CORS_ORIGINS pass a CORS preflight', async () => {
  const preflight = (Origin: string) =>
    fetch(`${service.url()}/orders`, {
      method: 'OPTIONS',
      headers: { Origin, 'Access-Control-Request-Method': 'POST' },
    });
  const allowed = await preflight(PAGE);
  deepEqual([allowed.status, allowed.headers.get('Access-Control-Allow-Origin')], [204, PAGE]);
  const other = await preflight('https://other.example');
  equal(other.headers.get('Access-Control-Allow-Origin'), null);
});

test('long responses are compressed', async () => {
  const shop = await customer(ANN);
  for (let count = 0; count < 20; count += 1) await newProduct(shop);
  const headers = { 'Accept-Encoding': 'gzip' };
  const response = await fetch(`${service.url()}/products`, { headers });
  equal(response.headers.get('Content-Encoding'), 'gzip');
  equal(Object(await response.json()).items.length, 20);
});

test('each customer has a separate limit of requests', async () => {
  const { handlers, around, close } = await openShop({
    databaseUrl: 'sqlite::memory:',
    requestsPerMinute: 2,
    onError() {},
  });
  after(close);
  const accessTokens = [ANN, BOB].map((id) => `${id}:token-of-${id} scheme=customer`);
  const options = { handlers, around, accessTokens, errorBody, formats: { iban: isIban } };
  const limited = await createService('openapi.yaml', options);
  const callAs = (id: string) =>
    limited.handle({
      method: 'GET',
      path: '/v1/orders',
      headers: { authorization: `Bearer token-of-${id}` },
    });

  const answers = [await callAs(ANN), await callAs(ANN), await callAs(ANN)];
  deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 429],
  );
  ok(answers[2]?.headers.includes('Retry-After'));
  equal((await callAs(BOB)).status, 200);
});
