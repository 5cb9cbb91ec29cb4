import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createApp } from 'spec-first-server';
import { failedTests } from './contract-tests/failed-tests.ts';
import { createShop, KEY } from './contract-tests/shop.ts';

const documents = join(import.meta.dirname, '../../spec-first-server/test/documents');

afterEach(() => {
  delete process.env.CONTRACT_SEED;
  delete process.env.CONTRACT_RUNS;
});

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
  test('shows the operation, the check, the response, the shortest request and a command', async () => {
    process.env.CONTRACT_SEED = '7';
    const app = createShop('failure on long names');
    const { 'POST /items (addItem) follows the document': message = '' } = await failedTests(
      { app },
      'addItem',
    );
    expect(message).toMatch(/^POST \/items \(addItem\) does not follow the document\n/);
    expect(message).toContain('check:    no request makes the service fail\n');
    expect(message).toContain('response: 500 {"message":"crashed"}\n');
    expect(message).toMatch(/\n {2}repeat: {3}CONTRACT_SEED=7$/);
    const [, headers, body = ''] =
      /request: {2}curl -i -X POST 'http:\/\/localhost:3000\/v1\/items' (.*) --data-raw '(.*)'\n/.exec(
        message,
      ) ?? [];
    expect(headers).toBe("-H 'X-Key: TOKEN' -H 'Content-Type: application/json'");
    // The shop fails for more than 15 characters.
    expect(JSON.parse(body.replaceAll("'\\''", "'")).name.length).toBeGreaterThan(15);
    expect(body.length).toBeLessThan(100);
  });
});

describe('the requests', () => {
  test('are the same for the same CONTRACT_SEED, and differ for another one', async () => {
    const [first, again, other] = [recorded(), recorded(), recorded()];
    process.env.CONTRACT_SEED = '11';
    await failedTests({ app: first.app, runs: 4 }, 'addItem');
    await failedTests({ app: again.app, runs: 4 }, 'addItem');
    process.env.CONTRACT_SEED = '12';
    await failedTests({ app: other.app, runs: 4 }, 'addItem');
    expect(again.requests).toEqual(first.requests);
    expect(other.requests).not.toEqual(first.requests);
  });

  test('are 40 to 150 for an operation, and more with a larger CONTRACT_RUNS', async () => {
    const [few, many] = [recorded(), recorded()];
    const listed = ({ requests }: typeof few) =>
      requests.filter((line) => /^GET \/v1\/items[ ?]/.test(line)).length;
    await failedTests({ app: few.app, runs: undefined }, 'listItems');
    process.env.CONTRACT_RUNS = '100';
    await failedTests({ app: many.app, runs: undefined }, 'listItems');
    expect(listed(few)).toBeGreaterThan(40);
    expect(listed(few)).toBeLessThan(150);
    expect(listed(many)).toBeGreaterThan(listed(few));
  });

  test('are not sent if CONTRACT_RUNS is not a number', async () => {
    process.env.CONTRACT_RUNS = 'many';
    await expect(failedTests({ app: createShop() })).rejects.toThrow(
      'CONTRACT_RUNS must be an integer from 1 to 9999999, got "many"',
    );
  });
});

describe('contract tests', () => {
  test('call a running service, whose URL is read when the first test begins', async () => {
    const server = createServer(createShop('date ignored')).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const failed = await failedTests({ url: () => `http://127.0.0.1:${port}/v1` }, 'listItems');
      expect(Object.values(failed)).toEqual([
        expect.stringContaining("'http://localhost:3000/v1/items?since="),
      ]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test('let an operation in mayReject reject requests that its schemas allow', async () => {
    expect(
      await failedTests({ app: createShop('valid rejected'), mayReject: ['addItem'] }, 'addItem'),
    ).toEqual({});
  });

  test('accept one token for all schemes, also that of a login', async () => {
    expect(await failedTests({ app: createShop(), credentials: async () => KEY })).toEqual({});
  });

  test('fail for a service that accepts the credential of another scheme', async () => {
    const document = join(documents, 'security.yaml');
    const reply = { status: 200, body: {} };
    const ids = ['secured', 'open', 'optional', 'either', 'both', 'scoped', 'graded', 'body'];
    const handlers = Object.fromEntries(ids.map((id) => [id, () => reply]));
    const names = ['bearer', 'header', 'query', 'cookie'];
    const oauth = 'oauth-token scheme=oauth scope=plants:write';
    const accessTokens = [oauth, ...names.map((name) => `${name}-token scheme=${name}`)];
    const errorBody = {
      mediaType: 'application/json',
      make: ({ status }: { readonly status: number }) => ({ error: status, message: 'failed' }),
    };
    const credentials = Object.fromEntries(
      [...names, 'oauth'].map((name) => [name, `${name}-token`]),
    );
    const options = { document, credentials, runs: 1 };
    const separated = createApp({ document, handlers, accessTokens, errorBody });
    expect(await failedTests({ ...options, app: separated })).toEqual({});

    const verifiers = Object.fromEntries(
      names.map((name) => [name, () => ({ subject: undefined, scopes: 'all' as const })]),
    );
    const shared = createApp({ document, handlers, accessTokens: [oauth], verifiers, errorBody });
    const failed = await failedTests({ ...options, app: shared });
    const paths = Object.keys(failed).map((name) => name.split(' ')[1]);
    expect(paths.sort()).toEqual(['/body', '/both', '/either', '/secured']);
    for (const message of Object.values(failed))
      expect(message).toMatch(/a request with wrong credentials( for \w+)? has the status 200/);
  });

  test('fail for a service that accepts a token without the scopes', async () => {
    const document = join(documents, 'security.yaml');
    const accessTokens = ['scoped-token scheme=* scope=plants:write', 'unscoped-token scheme=*'];
    const handlers = { scoped: () => ({ status: 200, body: {} }) };
    const app = createApp({ document, handlers, accessTokens, missing: '501' });
    const options = { document, app, credentials: 'scoped-token', runs: 1 };
    expect(await failedTests({ ...options, unscoped: 'unscoped-token' }, 'scoped')).toEqual({});

    const failed = Object.entries(
      await failedTests({ ...options, unscoped: 'scoped-token' }, 'scoped'),
    );
    expect(failed).toEqual([
      [
        'GET /scoped (scoped) follows the document',
        expect.stringContaining('a request without the scopes has the status 200'),
      ],
    ]);
  });

  // The documents have parameters in each style, forms, files, recursive schemas and more.
  test.each(['bodies', 'integers', 'schemas', 'security', 'uncommon'])(
    'succeed with the mocks of a document: %s',
    async (name) => {
      const document = join(documents, `${name}.yaml`);
      const make = ({
        status,
        message,
      }: {
        readonly status: number;
        readonly message: string;
      }) => ({
        error: status,
        message,
      });
      const errorBody = {
        mediaType: name === 'bodies' ? 'application/problem+json' : 'application/json',
        make,
      };
      const app = createApp({
        document,
        handlers: {},
        missing: 'mock',
        security: { developmentToken: KEY },
        errorBody,
      });
      expect(await failedTests({ document, app, credentials: KEY, runs: 10 })).toEqual({});
    },
  );
});
