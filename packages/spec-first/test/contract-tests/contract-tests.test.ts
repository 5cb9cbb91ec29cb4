import { describe, expect, test } from '@jest/globals';
import { failures } from './contract-tests/failures.ts';
import { createShop, FAULTS, type ShopFault } from './contract-tests/shop.ts';

/** The test that finds each fault, and what its message says. */
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
    /the response 201 has headers that do not fit their schemas: \/headers\/location must have required property/,
  ],
  'wrong header': [
    'POST /items',
    /the response 201 has headers that do not fit their schemas: \/headers\/location must match pattern/,
  ],
  'wrong body': [
    'GET /items',
    /the body of the response 200 does not fit its schema: .*\/0\/id must be integer/,
  ],
  'int64 rounded': [
    'GET /items/{id}',
    /the body of the response 200 does not fit its schema: \/body\/id must be an integer from/,
  ],
  'failure on long names': [
    'POST /items',
    /no request makes the service fail\n.*the status 500 is a failure/,
  ],
  'no answer': ['POST /items', /each request gets a response\n.*there is no response/],
  'valid rejected': [
    'POST /items',
    /not rejected as malformed\n.*the status 422 rejects a request that satisfies/,
  ],
  'missing member accepted': [
    'POST /items',
    /the status 201 accepts nothing where \/body\/name must have required property/,
  ],
  'wrong type accepted': [
    'POST /items',
    /the status 201 accepts an? [a-z ]+ where \/body\/id must be integer/,
  ],
  'bounds ignored': [
    'POST /items',
    /the status 201 accepts an? [a-z ]+ where \/body\/(id|name|price) must (be >= |be an integer from |NOT have (more|fewer) than )/,
  ],
  'int64 unbounded': [
    'POST /items',
    /the status 201 accepts a number where \/body\/id must be an integer from /,
  ],
  'wrong media type accepted': ['POST /items', /the status 201 accepts a wrong media type/],
  'undeclared query accepted': [
    'GET /items',
    /the status 200 accepts (an undeclared query parameter|.* where \/query\/filter)/,
  ],
  'wrong query accepted': ['GET /items', /the status 200 accepts .* where \/query\/limit/],
  'no credentials needed': [
    'GET /items',
    /a request without credentials has the status 200, not 401 or 403/,
  ],
  'any credentials accepted': [
    'GET /items',
    /a request with wrong credentials has the status 200, not 401 or 403/,
  ],
  'enum ignored': ['GET /items', /the status 200 accepts .* where \/query\/color/],
  'date ignored': ['GET /items', /the status 200 accepts .* where \/query\/since/],
  'old dates rejected': [
    'GET /items',
    /the status 400 rejects a request that satisfies the document/,
  ],
  'closed object ignored': ['GET /items', /the status 200 accepts .* where \/query\/filter/],
  'empty query accepted': ['GET /items', /the status 200 accepts .* where \/query\/limit/],
  'failure on 7': ['GET /items', /no request makes the service fail/],
};

describe('contract tests', () => {
  test('pass for a service that fits its document', async () => {
    expect(await failures({ app: createShop() })).toEqual({});
  });

  test.each(FAULTS)('find a service with this fault: %s', async (fault) => {
    const [name, message] = EXPECTED[fault];
    const failed = await failures({ app: createShop(fault) }, `${name} `);
    const at = Object.keys(failed).find((title) => title.startsWith(`${name} `));
    expect(at === undefined ? failed : failed[at]).toMatch(message);
  });
});
