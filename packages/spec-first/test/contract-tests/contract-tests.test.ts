import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type ContractTestOptions,
  contractTests,
} from '../../src/contract-tests/contract-tests.ts';
import { failedTests } from './failed-tests.ts';
import { createShop, FAULTS, type ShopFault } from './shop.ts';
import { documentOf, json } from './test-data.ts';

const EXPECTED: Record<ShopFault, readonly [test: string, message: RegExp]> = {
  'undeclared status': [
    'POST /items',
    /each status is declared\n.*the status 202 is not declared \(201, 4XX\)/,
  ],
  'wrong media type': [
    'GET /items',
    /text\/plain of the response 200 is not declared \(application\/json\)/,
  ],
  'missing header': [
    'POST /items',
    /the response 201 has headers that violate their schemas: \/headers\/location is required/,
  ],
  'wrong header': [
    'POST /items',
    /the response 201 has headers that violate their schemas: \/headers\/location must match pattern/,
  ],
  'wrong path in Location': [
    'POST /items',
    /Location "\/v1\/items\/(\d+)\/photos" is the path \/v1\/items\/\1\/photos, which has no GET/,
  ],
  'wrong body': [
    'GET /items',
    /the body of the response 200 violates its schema: .*\/0\/id must be integer/,
  ],
  'int64 rounded': [
    'GET /items/{id}',
    /the body of the response 200 violates its schema: \/body\/id must be an integer from/,
  ],
  'failure on long names': [
    'POST /items',
    /no request makes the service fail\n.*the status 500 is a failure/,
  ],
  'no response': ['POST /items', /each request gets a response\n.*there is no response/],
  'valid rejected': [
    'POST /items',
    /not rejected as malformed\n.*the status is 422 for a request that satisfies/,
  ],
  'missing member accepted': [
    'POST /items',
    /the status is 201 for a missing value where \/body\/name is required/,
  ],
  'wrong type accepted': [
    'POST /items',
    /the status is 201 for an? [a-z ]+ where \/body\/id must be integer/,
  ],
  'bounds ignored': [
    'POST /items',
    /the status is 201 for an? [a-z ]+ where \/body\/(id|name|price) must (be >= |be an integer from |NOT have (more|fewer) than )/,
  ],
  'int64 unbounded': [
    'POST /items',
    /the status is 201 for a number where \/body\/id must be an integer from /,
  ],
  'wrong media type accepted': ['POST /items', /the status is 201 for a wrong media type/],
  'undeclared query accepted': ['GET /items', /the status is 200 for .* where \/query\/filter/],
  'wrong query accepted': ['GET /items', /the status is 200 for .* where \/query\/limit/],
  'no credentials needed': [
    'GET /items',
    /a request without credentials has the status 200, not 401 or 403/,
  ],
  'any credentials accepted': [
    'GET /items',
    /a request with wrong credentials has the status 200, not 401 or 403/,
  ],
  'enum ignored': ['GET /items', /the status is 200 for .* where \/query\/color/],
  'date ignored': ['GET /items', /the status is 200 for .* where \/query\/since/],
  'old dates rejected': [
    'GET /items',
    /the status is 400 for a request that satisfies the document/,
  ],
  'closed object ignored': ['GET /items', /the status is 200 for .* where \/query\/filter/],
  'empty query accepted': ['GET /items', /the status is 200 for .* where \/query\/limit/],
};

describe('contract tests', () => {
  test('pass for a service that follows its document', async () => {
    expect(await failedTests({ app: createShop() })).toEqual({});
  });

  /** Faults of one shop. A test shows one fault for each operation and check. */
  const SHOPS: readonly (readonly ShopFault[])[] = [
    ['undeclared status', 'wrong media type'],
    ['missing header', 'failure on long names', 'enum ignored', 'no credentials needed'],
    ['wrong header', 'valid rejected', 'date ignored', 'any credentials accepted'],
    ['no response'],
    ['wrong path in Location', 'missing member accepted', 'wrong query accepted'],
    ['wrong type accepted', 'old dates rejected'],
    ['bounds ignored', 'undeclared query accepted', 'wrong body'],
    ['int64 unbounded', 'closed object ignored'],
    ['wrong media type accepted', 'empty query accepted', 'int64 rounded'],
  ];

  test.each(SHOPS)('find a service with these faults: %s', async (...faults) => {
    const names = faults.map((fault) => `${EXPECTED[fault][0]} `);
    const options = { app: createShop(...faults), runs: 50 };
    const failed = Object.entries(await failedTests(options, ...names));
    for (const fault of faults) {
      const [name, message] = EXPECTED[fault];
      const [, text] = failed.find(([title]) => title.startsWith(`${name} `)) ?? [];
      expect(text).toMatch(message);
    }
  });

  test('are tried with each fault once', () => {
    expect(SHOPS.flat().sort()).toEqual([...FAULTS].sort());
  });
});

describe('in contract tests,', () => {
  const { CI } = process.env;
  const clear = () => {
    for (const name of ['CONTRACT_SEED', 'CONTRACT_RUNS', 'CI']) delete process.env[name];
  };
  beforeEach(clear);
  afterEach(() => {
    clear();
    if (CI !== undefined) process.env.CI = CI;
  });

  const header = (name: string) => ({
    ...{ name, in: 'header', required: true, schema: { type: 'string' } },
  });
  const operation = (operationId: string, members: object = {}) => ({
    ...{ operationId, responses: { 204: { description: '' }, '4XX': { description: '' } } },
    ...members,
  });
  const garden = (security: readonly object[] = [{ key: [] }]) =>
    documentOf({
      servers: [{ url: '/v2' }],
      paths: {
        '/plants/{id}': {
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          delete: operation('remove'),
        },
        '/plants': {
          get: operation('list', {
            parameters: ['Content-Length', 'TE', 'Expect', 'x-key', 'X-A'].map(header),
            security,
          }),
        },
        '/plants#fragment': { post: operation('unreachable') },
      },
      components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
    });

  /** Registers the tests of the garden, without running them. */
  async function registered(options: Partial<ContractTestOptions> = {}, status = 204) {
    const tests: { name: string; body: () => Promise<void>; timeout: number }[] = [];
    const requests: { url: string; key: unknown; names: string[] }[] = [];
    const app: RequestListener = (request, response) => {
      const { url = '', headers } = request;
      requests.push({ url, key: headers['x-key'], names: Object.keys(headers) });
      const isList = url.startsWith('/v2/plants?') || url === '/v2/plants';
      if (isList && headers['x-key'] !== 'a') response.writeHead(401).end();
      else if (url.includes('undeclaredParameter')) response.writeHead(400).end();
      else if (isList && headers['x-a'] === undefined) response.writeHead(400).end();
      else response.writeHead(isList ? status : 204).end();
    };
    let summary = '';
    await contractTests({
      document: await garden(),
      ...{ app, credentials: 'a', runs: 2 },
      report: (text) => {
        summary = text;
      },
      test: (name, body, timeout) => tests.push({ name, body, timeout }),
      ...options,
    });
    const run = async () => {
      for (const { body } of tests) await body();
      return summary;
    };
    return { tests, requests, app, run };
  }

  test('each reachable operation is tested, and a summary follows', async () => {
    const { tests } = await registered();
    expect(tests.map(({ name }) => name)).toEqual([
      'DELETE /plants/{id} (remove) follows the document',
      'GET /plants (list) follows the document',
      'summary of the contract tests',
    ]);
    expect(tests.map(({ timeout }) => timeout)).toEqual([62_000, 62_000, 62_000]);
    process.env.CONTRACT_RUNS = '100';
    expect((await registered()).tests[0]?.timeout).toBe(160_000);
  });

  test('an operation that cannot be served is skipped', async () => {
    const get = { operationId: 'broken', requestBody: json({ type: 'int' }), responses: {} };
    const document = await documentOf({ paths: { '/broken': { get } } });
    const { requests, run } = await registered({ document });
    expect(await run()).toContain('1 skipped, not implemented (501):\n  GET /broken (broken)');
    expect(requests).toEqual([]);
  });

  test('parameters that the client sets are not generated', async () => {
    const { requests, run } = await registered();
    await run();
    const names = new Set(requests.flatMap((request) => request.names));
    expect([...names]).toEqual(expect.arrayContaining(['x-a', 'x-key', 'x-request-id']));
    expect(names.intersection(new Set(['content-length', 'te', 'expect']))).toEqual(new Set());
    const keys = new Set(requests.filter(({ url }) => url === '/v2/plants').map(({ key }) => key));
    expect(keys).toEqual(new Set(['a', undefined, 'wrong-credential']));
  });

  test.each([
    ['every alternative', true, [{ key: ['read'] }, { key: ['admin'] }]],
    ['one of two alternatives', false, [{ key: ['admin'] }, { key: [] }]],
    ['no alternative', false, [{ key: [] }]],
  ])(
    'if %s of the security has scopes, credentials without a scope are sent: %p',
    async (_name, isSent, security) => {
      const document = await garden(security);
      const { requests, run } = await registered({ document, unscoped: 'b' });
      await run();
      expect(requests.some(({ key }) => key === 'b')).toBe(isSent);
    },
  );

  test.each([
    [{ CI: 'true' }, /CONTRACT_SEED=1$/m],
    [{ CONTRACT_SEED: '-7' }, /CONTRACT_SEED=-7$/m],
    [{ CI: 'true', CONTRACT_SEED: '7' }, /CONTRACT_SEED=7$/m],
    [{ CONTRACT_SEED: '' }, /CONTRACT_SEED=(?!1$)\d+$/m],
  ])('the summary has the random seed of the environment %p', async (environment, expected) => {
    Object.assign(process.env, environment);
    expect(await (await registered()).run()).toMatch(expected);
  });

  test.each([
    [
      'CONTRACT_SEED',
      'seven',
      'CONTRACT_SEED must be an integer of at most 10 digits, got "seven"',
    ],
    ['CONTRACT_RUNS', '0', 'CONTRACT_RUNS must be an integer from 1 to 9999999, got "0"'],
    [
      'CONTRACT_RUNS',
      '12345678',
      'CONTRACT_RUNS must be an integer from 1 to 9999999, got "12345678"',
    ],
  ])('the variable %s cannot be %s', async (name, text, message) => {
    process.env[name] = text;
    await expect(registered()).rejects.toThrow(message);
  });

  test('a failed test shows how to repeat it', async () => {
    process.env.CONTRACT_SEED = '7';
    const { run } = await registered({}, 500);
    await expect(run()).rejects.toThrow(/repeat: {3}CONTRACT_SEED=7$/);
    process.env.CONTRACT_RUNS = '3';
    await expect((await registered({}, 500)).run()).rejects.toThrow(
      /^GET \/plants \(list\) does not follow.*response: 500\n.*repeat: {3}CONTRACT_SEED=7 CONTRACT_RUNS=3$/s,
    );
  });

  test('an app or a URL is required', async () => {
    const tests: (() => Promise<void>)[] = [];
    await contractTests({
      document: await garden(),
      credentials: 'a',
      test: (_name, body) => tests.push(body),
    });
    await expect(tests[0]?.()).rejects.toThrow(
      'contractTests needs a service: pass `app` or `url`',
    );
  });

  test('a running service is called at its URL', async () => {
    const { requests, app } = await registered();
    const server = createServer(app).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const { port } = Object(server.address());
      const { run } = await registered({ url: `http://127.0.0.1:${port}/v2` }, 204);
      await run();
      expect(requests.length).toBeGreaterThan(2);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test('the formats of the service apply to responses', async () => {
    const response = { description: '', ...json({ type: 'string', format: 'even' }) };
    const paths = { '/code': { get: operation('code', { responses: { 200: response } }) } };
    const app: RequestListener = ({ url = '' }, response) => {
      const status = url.includes('undeclaredParameter') ? 400 : 200;
      response.writeHead(status, { 'Content-Type': 'application/json' }).end('"abc"');
    };
    const options = { document: await documentOf({ paths }), app };
    expect(await (await registered(options)).run()).toMatch(
      /1 of 1 operations succeeded at least once/,
    );
    const formats = { even: (text: string) => text.length % 2 === 0 };
    const { run } = await registered({ ...options, formats });
    await expect(run()).rejects.toThrow('must match format "even"');
  });

  test('credentials are read when a test begins', async () => {
    let isStarted = false;
    const credentials = () => {
      if (!isStarted) throw new Error('the service is not running');
      return { key: 'a' };
    };
    const { run } = await registered({ credentials });
    isStarted = true;
    expect(await run()).toMatch(/^Contract tests: 2 of 2 operations succeeded at least once\./);
  });
});
