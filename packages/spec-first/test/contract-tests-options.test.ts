import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createApp } from 'spec-first-server';
import { failures } from './contract-tests/failures.ts';
import { createShop, KEY } from './contract-tests/shop.ts';

const documents = join(import.meta.dirname, '../../spec-first-server/test/documents');

afterEach(() => {
  delete process.env.CONTRACT_SEED;
  delete process.env.CONTRACT_RUNS;
});

/** The shop, which notes the requests that it gets. */
function recorded(): { readonly app: RequestListener; readonly requests: string[] } {
  const shop = createShop();
  const requests: string[] = [];
  const app: RequestListener = (request, response) => {
    const line = `${request.method} ${request.url}`;
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => requests.push(`${line} ${body}`));
    return shop(request, response);
  };
  return { app, requests };
}

describe('a failed test', () => {
  test('names the operation and the check, and shows the answer, the shortest request and how to repeat it', async () => {
    process.env.CONTRACT_SEED = '7';
    const { 'POST /items (addItem) keeps to the document': message = '' } = await failures({
      app: createShop('failure on long names'),
    });
    expect(message).toMatch(/^POST \/items \(addItem\) breaks the document\n/);
    expect(message).toContain('broken:  no request makes the service fail\n');
    expect(message).toContain('answer:  500 {"message":"crashed"}\n');
    expect(message).toMatch(/\n {2}repeat: {2}CONTRACT_SEED=7 npm test$/);
    const [, headers, body = ''] =
      /request: curl -i -X POST 'http:\/\/localhost:3000\/v1\/items' (.*) --data-binary '(.*)'\n/.exec(message) ?? [];
    expect(headers).toBe(`-H 'X-Key: ${KEY}' -H 'Content-Type: application/json'`);
    // The shop fails for more than 15 characters.
    expect(JSON.parse(body).name.length).toBeGreaterThan(15);
    expect(body.length).toBeLessThan(100);
  });

  test('says which credentials are missing', async () => {
    const found = await failures({ app: createShop(), credentials: {} });
    const expected = "addItem needs credentials. Pass one of: credentials: { key: '…' }";
    expect(found['POST /items (addItem) keeps to the document']).toBe(expected);
  });
});

describe('the requests', () => {
  test('are the same for the same seed, and others for another one', async () => {
    const [first, again, other] = [recorded(), recorded(), recorded()];
    process.env.CONTRACT_SEED = '11';
    await failures({ app: first.app, runs: 10 });
    await failures({ app: again.app, runs: 10 });
    process.env.CONTRACT_SEED = '12';
    await failures({ app: other.app, runs: 10 });
    expect(again.requests).toEqual(first.requests);
    expect(other.requests).not.toEqual(first.requests);
  });

  test('are about 50 for each operation, or as many as CONTRACT_RUNS says', async () => {
    const [few, many] = [recorded(), recorded()];
    const listed = ({ requests }: typeof few) => requests.filter((line) => /^GET \/v1\/items[ ?]/.test(line)).length;
    await failures(few);
    process.env.CONTRACT_RUNS = '100';
    await failures(many);
    expect(listed(few)).toBeGreaterThan(40);
    expect(listed(few)).toBeLessThan(80);
    expect(listed(many)).toBeGreaterThan(90);
  });

  test('hold exact integers beyond 2⁵³', async () => {
    const { app, requests } = recorded();
    await failures({ app });
    const ids = requests.flatMap((line) => /^POST .*"id":(\d{17,})[,}]/.exec(line)?.[1] ?? []).map(BigInt);
    expect(ids.some((id) => id !== BigInt(Number(id)))).toBe(true);
  });

  test('are not made if CONTRACT_RUNS is not a number', async () => {
    process.env.CONTRACT_RUNS = 'many';
    await expect(failures({ app: createShop() })).rejects.toThrow(
      'CONTRACT_RUNS is "many", but must be a number of requests',
    );
  });
});

describe('contract tests', () => {
  test('call a service that runs, at a URL that is known when the first test begins', async () => {
    const server = createServer(createShop('date ignored')).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const found = await failures({ url: () => `http://127.0.0.1:${port}/v1` });
      expect(Object.values(found)).toEqual([expect.stringContaining("'http://localhost:3000/v1/items?since=")]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test('let an operation reject requests that its schemas allow, if they are told so', async () => {
    expect(await failures({ app: createShop('valid rejected'), mayReject: ['addItem'] })).toEqual({});
  });

  test('take one token for all schemes', async () => {
    expect(await failures({ app: createShop(), credentials: KEY })).toEqual({});
  });

  // Parameters in each style, forms, texts, files, recursive schemas, members that are only read.
  test.each(['bodies', 'integers', 'schemas', 'security', 'uncommon'])(
    'pass on the mocks of a document: %s',
    async (name) => {
      const document = join(documents, `${name}.yaml`);
      const make = ({ status, message }: { readonly status: number; readonly message: string }) => ({
        error: status,
        message,
      });
      const errorBody = { mediaType: name === 'bodies' ? 'application/problem+json' : 'application/json', make };
      const app = createApp({ document, handlers: {}, missing: 'mock', accessTokens: [KEY], errorBody });
      expect(await failures({ document, app, credentials: KEY, runs: 25 })).toEqual({});
    },
  );
});
