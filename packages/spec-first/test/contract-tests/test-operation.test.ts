import { describe, expect, test } from '@jest/globals';
import type { Document } from 'openapi-document';
import type { ReceivedResponse, SerializedRequest } from '../../src/contract-tests/client.ts';
import { trackResources } from '../../src/contract-tests/resources.ts';
import {
  createResources,
  type OperationTest,
  testAgain,
  testOperation,
  titleOf,
} from '../../src/contract-tests/test-operation.ts';
import {
  checkedOperation,
  documentOf,
  json,
  operationIn,
  requestValues,
  responseOf,
  secretOf,
} from './test-data.ts';

const NAMED = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } };
const JSON_TYPE = { 'content-type': 'application/json' };
const roomId = {
  name: 'roomId',
  in: 'path',
  required: true,
  schema: { type: 'integer', minimum: 1 },
};
const query = (name: string, schema: object) => ({ name, in: 'query', schema });

const rooms = (members: object = {}, cursor: object = { type: 'string' }) =>
  documentOf({
    paths: {
      '/rooms': {
        post: {
          operationId: 'add',
          requestBody: { required: true, ...json(NAMED) },
          responses: { 200: { description: '', ...json(NAMED) }, '4XX': { description: '' } },
          ...members,
        },
        get: {
          operationId: 'list',
          parameters: [
            query('limit', { type: 'integer', minimum: 1, maximum: 20 }),
            query('cursor', cursor),
            query('color', { enum: ['red'] }),
          ],
          responses: { 200: { description: '', ...json({}) }, '4XX': { description: '' } },
        },
      },
      '/rooms/{roomId}': {
        parameters: [roomId],
        get: {
          operationId: 'get',
          responses: { 204: { description: '' }, '4XX': { description: '' } },
        },
      },
    },
  });

const isNamed = (text: string) => {
  try {
    return typeof JSON.parse(text).name === 'string' && /^\{/.test(text);
  } catch {
    return false;
  }
};

/** A service of rooms that follows the document, and lists five rooms. */
function follow({
  method,
  url,
  headers,
  body = Buffer.from(''),
}: SerializedRequest): ReceivedResponse {
  const { pathname, searchParams } = new URL(url, 'http://rooms');
  const isJson = headers['Content-Type'] === 'application/json';
  if (searchParams.has('undeclaredParameter')) return responseOf(400);
  if (method === 'POST')
    return isJson && isNamed(String(body))
      ? responseOf(200, JSON_TYPE, String(body))
      : responseOf(400);
  if (pathname !== '/rooms') return responseOf(/^\/rooms\/[1-9]\d*$/.test(pathname) ? 204 : 400);
  const limit = searchParams.get('limit') ?? '20';
  const color = searchParams.get('color') ?? 'red';
  if (!/^([1-9]|1\d|20)$/.test(limit) || color !== 'red') return responseOf(400);
  const start = Number(searchParams.get('cursor') ?? 0);
  const end = start + Number(limit);
  const items = [1, 2, 3, 4, 5].slice(start, end);
  return responseOf(200, JSON_TYPE, { items, next: end < 5 ? end : null });
}

function contextOf(
  document: Document,
  id: string,
  respond: (sent: SerializedRequest) => ReceivedResponse,
  members: Partial<OperationTest> = {},
) {
  const { root, operations } = document;
  const operation = operationIn(document, id);
  const sent: SerializedRequest[] = [];
  const send = async (request: SerializedRequest) => {
    sent.push(request);
    return respond(request);
  };
  const context: OperationTest = {
    ...checkedOperation(document, operation),
    secrets: [],
    client: { base: 'http://rooms', send },
    resources: trackResources(root, operations),
    ...{ runs: 8, randomSeed: 1, insufficientSecrets: [] },
    ...{ mayReject: false, mayChange: false, operations, basePaths: [''], reader: undefined },
    ...members,
  };
  return { context, sent };
}

async function checksOf(...options: Parameters<typeof contextOf>) {
  const { failedChecks } = await testOperation(contextOf(...options).context);
  return failedChecks.map(({ error }) => `${error.check}: ${error.message}`);
}

const mock = (response: ReceivedResponse): ReceivedResponse => ({
  ...response,
  headers: { ...response.headers, 'x-mock': 'true' },
});
/** Replaces the responses of the service to valid requests. */
const replaceSuccess =
  (response: ReceivedResponse) =>
  (sent: SerializedRequest): ReceivedResponse =>
    follow(sent).status < 400 ? response : follow(sent);

describe('the test of an operation', () => {
  test.each(['add', 'list', 'get'])(
    'passes if the service follows the document: %s',
    async (id) => {
      const { context, sent } = contextOf(await rooms(), id, follow);
      const { failedChecks, responses, sentRequests, isSkipped } = await testOperation(context);
      expect({ failedChecks, isSkipped }).toEqual({ failedChecks: [], isSkipped: false });
      expect(responses.length).toBeGreaterThanOrEqual(4);
      expect(responses.every(({ status }) => status < 300)).toBe(true);
      // `sentRequests` does not count requests for pages.
      const pages = sent.filter(({ headers }) => headers['X-Request-Id'] === undefined);
      expect(sentRequests).toBe(sent.length - pages.length);
      expect(sentRequests).toBeGreaterThan(responses.length);
    },
  );

  test('sends the same requests for the same random seed, and others for another one', async () => {
    const requestsFor = async (randomSeed: number) => {
      const { context, sent } = contextOf(await rooms(), 'add', follow, { randomSeed });
      await testOperation(context);
      return sent.map(({ body, headers }) => [String(body), headers['X-Request-Id']]);
    };
    const first = await requestsFor(1);
    expect(await requestsFor(1)).toEqual(first);
    const second = await requestsFor(2);
    for (const index of [0, 1])
      expect(second.map((part) => part[index])).not.toEqual(first.map((part) => part[index]));
    expect(first[0]?.[1]).toBe('contract-1-add-1');
  });

  test('ends after one request to an operation without a handler', async () => {
    const { context, sent } = contextOf(await rooms(), 'add', () => responseOf(501));
    const outcome = await testOperation(context);
    expect(outcome).toMatchObject({ failedChecks: [], sentRequests: 1, isSkipped: true });
    expect(sent).toHaveLength(1);
    const mocked = contextOf(await rooms(), 'add', () => mock(responseOf(501)));
    expect((await testOperation(mocked.context)).isSkipped).toBe(false);
  });

  test.each([400, 415, 422])('fails if a valid request is rejected with %i', async (status) => {
    const reject = replaceSuccess(responseOf(status));
    const expected = `a valid request is not rejected as malformed: the status is ${status} for a request that satisfies the document`;
    expect(await checksOf(await rooms(), 'add', reject)).toEqual([expected]);
    expect(await checksOf(await rooms(), 'add', reject, { mayReject: true })).toEqual([]);
    expect(await checksOf(await rooms(), 'add', (sent) => mock(reject(sent)))).toEqual([]);
  });

  test('fails if an invalid request is accepted', async () => {
    const accept = () => responseOf(200, JSON_TYPE, { name: 'a' });
    const [check] = await checksOf(await rooms(), 'add', accept, { mayChange: true });
    expect(check).toMatch(/^an invalid request is rejected with 4xx: the status is 200 for an? /);
    const redirect = (sent: SerializedRequest) =>
      follow(sent).status < 400 ? follow(sent) : responseOf(399);
    const [redirected] = await checksOf(await rooms(), 'add', redirect);
    expect(redirected).toContain('the status is 399 for');
  });

  test('fails if no request succeeds', async () => {
    const [check] = await checksOf(await rooms(), 'get', replaceSuccess(responseOf(404)));
    expect(check).toMatch(
      /^an operation succeeds at least once: (\d+) of \1 valid requests have the status 404: add an example of a successful request to the document, add data in `seed`, or add get to `mayReject`$/,
    );
    let count = 0;
    const alternating = () => {
      count += 1;
      return responseOf(count % 3 === 0 ? 409 : 404);
    };
    expect((await checksOf(await rooms(), 'get', alternating))[0]).toMatch(
      / have the status 404: /,
    );
    const conflict = replaceSuccess(responseOf(409));
    expect(await checksOf(await rooms(), 'get', conflict, { mayReject: true })).toEqual([]);
    expect(await checksOf(await rooms(), 'get', (sent) => mock(conflict(sent)))).toEqual([]);
    const checks = await checksOf(await rooms(), 'get', () => responseOf(500));
    expect(checks).toEqual([
      'no request makes the service fail: the status 500 is a failure of the service',
    ]);
  });

  test('advises to raise the rate limit for the status 429', async () => {
    const limit = replaceSuccess(responseOf(429));
    expect(await checksOf(await rooms(), 'get', limit)).toEqual([
      expect.stringMatching(
        / valid requests have the status 429: raise the rate limit in tests, for example with `testService\(\{ variables: \{ … \} \}\)`$/,
      ),
    ]);
    const undeclared = await rooms({ responses: { 200: { description: '' } } });
    expect(await checksOf(undeclared, 'add', limit)).toEqual([
      'each status is declared: the status 429 is not declared (200): raise the rate limit in tests, for example with `testService({ variables: { … } })`',
    ]);
  });

  test('fails if a request gets no response, and continues', async () => {
    let count = 0;
    const { failedChecks, responses } = await testOperation(
      contextOf(await rooms(), 'get', (sent) => {
        count += 1;
        if (count === 2) throw new Error('socket hang up');
        return follow(sent);
      }).context,
    );
    expect(failedChecks.map(({ error }) => error.message)).toEqual([
      'there is no response: socket hang up',
    ]);
    expect(responses.length).toBeGreaterThanOrEqual(3);
    expect(responses.every(({ status }) => status === 204)).toBe(true);
  });

  test('fails if a change is not stored, unless the operation may change values', async () => {
    const lose = replaceSuccess(responseOf(200, JSON_TYPE, { name: '?' }));
    expect(await checksOf(await rooms(), 'add', lose)).toEqual([
      expect.stringMatching(
        /^a change is stored: \/name was sent as .*, and is "\?" in the response$/,
      ),
    ]);
    expect(await checksOf(await rooms(), 'add', lose, { mayChange: true })).toEqual([]);
    expect(await checksOf(await rooms(), 'add', (sent) => mock(lose(sent)))).toEqual([]);
  });

  test('fails if the pages of a list lose items, unless they are mocks', async () => {
    const lose = (sent: SerializedRequest) => {
      const response = follow(sent);
      const body = String(response.body).replace(/"next":\d+/, '"next":null');
      return { ...response, body: Buffer.from(body) };
    };
    expect(await checksOf(await rooms(), 'list', lose)).toEqual([
      expect.stringMatching(
        /^pages contain all items of the list: the 1 items in pages of 1 differ/,
      ),
    ]);
    expect(await checksOf(await rooms(), 'list', (sent) => mock(lose(sent)))).toEqual([]);
    const { failedChecks } = await testOperation(contextOf(await rooms(), 'list', lose).context);
    expect(failedChecks.map(({ curl }) => curl)).toEqual(["curl -i 'http://rooms/rooms?limit=1'"]);
  });

  test('fails if a list has more items than its limit, unless it is a mock', async () => {
    const ignoreLimit = replaceSuccess(responseOf(200, JSON_TYPE, [1, 2]));
    expect(await checksOf(await rooms(), 'list', ignoreLimit)).toEqual([
      'a list has at most as many items as its limit: the response has 2 items for limit=1',
    ]);
    expect(await checksOf(await rooms(), 'list', (sent) => mock(ignoreLimit(sent)))).toEqual([]);
  });

  test('fails if an unknown cursor makes the service fail, but not if it is rejected', async () => {
    const isUnknown = ({ url }: SerializedRequest) => /cursor=[^&]*[^&\d]/.test(url);
    const respond = (status: number) => (sent: SerializedRequest) =>
      isUnknown(sent) ? responseOf(status) : follow(sent);
    expect(await checksOf(await rooms(), 'list', respond(500))).toEqual([
      'no request makes the service fail: the status 500 is a failure of the service',
    ]);
    expect(await checksOf(await rooms(), 'list', respond(400))).toEqual([]);
  });

  test.each([
    ['the bounds of its length', { type: 'string', maxLength: 30 }, /cursor=x{30}(&|$)/],
    [
      'the bounds of its pattern',
      { type: 'string', pattern: '^[a-z]{1,20}$' },
      /cursor=[a-z]{20}(&|$)/,
    ],
    [
      'the bounds of its format',
      { type: 'integer', format: 'int64' },
      /cursor=9223372036854775807/,
    ],
  ])('fails if an unknown cursor at %s makes the service fail', async (_name, schema, atBound) => {
    const crash = (sent: SerializedRequest) =>
      atBound.test(sent.url) ? responseOf(500) : follow(sent);
    expect(await checksOf(await rooms({}, schema), 'list', crash)).toContain(
      'no request makes the service fail: the status 500 is a failure of the service',
    );
  });

  test('reads pages without other optional parameters', async () => {
    const { context, sent } = contextOf(await rooms(), 'list', follow, { secrets: [] });
    await testOperation(context);
    const pages = sent.filter(({ headers }) => headers['X-Request-Id'] === undefined);
    expect(pages.map(({ url }) => url)).toEqual([
      '/rooms?limit=20',
      '/rooms?limit=1',
      ...[1, 2, 3, 4].map((cursor) => `/rooms?limit=1&cursor=${cursor}`),
    ]);
  });
});

describe('a wrong entity tag', () => {
  const document = (pattern: string, members: object = {}, method = 'put') =>
    documentOf({
      paths: {
        '/rooms/{roomId}': {
          parameters: [roomId],
          [method]: {
            operationId: 'change',
            parameters: [{ name: 'If-Match', in: 'header', schema: { type: 'string', pattern } }],
            responses: { 204: { description: '' }, 412: { description: '' }, ...members },
          },
        },
      },
    });
  const respond = (sent: SerializedRequest, isTag: (tag: string) => boolean) => {
    if (!/^\/rooms\/[1-9]\d*$/.test(sent.url)) return responseOf(400);
    const tag = sent.headers['If-Match'];
    return responseOf(tag === undefined || isTag(tag) ? 204 : 412);
  };
  const ignoreTag = (sent: SerializedRequest) => respond(sent, () => true);
  const checkTag = (sent: SerializedRequest) => respond(sent, (tag) => tag === '"1"');
  const onlyTags = (checks: readonly string[]) =>
    checks.filter((check) => check.includes('entity tag'));

  test.each([
    ['^.*$', '"wrong"'],
    ['^"[0-9]{1,15}"$', '"987654321"'],
  ])('must be rejected: with the pattern %s', async (pattern, tag) => {
    expect(onlyTags(await checksOf(await document(pattern), 'change', checkTag))).toEqual([]);
    expect(onlyTags(await checksOf(await document(pattern), 'change', ignoreTag))).toEqual([
      'a wrong entity tag is rejected: the status is 204 for a wrong entity tag in If-Match, not 412',
    ]);
    const { context } = contextOf(await document(pattern), 'change', ignoreTag);
    const { failedChecks } = await testOperation(context);
    expect(failedChecks.map(({ curl }) => curl)).toContainEqual(expect.stringContaining(tag));
    const mocked = (sent: SerializedRequest) => mock(ignoreTag(sent));
    expect(onlyTags(await checksOf(await document(pattern), 'change', mocked))).toEqual([]);
  });

  test('is not sent if no tag is valid, or 412 is not declared', async () => {
    const fixed = await document('^"1"$');
    expect(onlyTags(await checksOf(fixed, 'change', ignoreTag))).toEqual([]);
    const undeclared = await document('^.*$', { 412: undefined, '4XX': { description: '' } });
    expect(onlyTags(await checksOf(undeclared, 'change', ignoreTag))).toEqual([]);
  });

  test('is sent to delete a known resource only', async () => {
    const removal = await document('^.*$', {}, 'delete');
    const { context, sent } = contextOf(removal, 'change', ignoreTag);
    const wrongTags = () => sent.filter(({ headers }) => headers['If-Match'] === '"wrong"').length;
    expect((await testOperation(context)).failedChecks).toEqual([]);
    expect(wrongTags()).toBe(0);
    context.resources.isKnown = () => true;
    expect((await testOperation(context)).failedChecks).toHaveLength(1);
    expect(wrongTags()).toBe(3);
  });
});

describe('an event stream without data', () => {
  const silent = { ...responseOf(200, { 'content-type': 'text/event-stream' }), isCut: true };
  const content = { 'text/event-stream': {} };
  const stream = (parameters: readonly object[]) =>
    documentOf({
      paths: {
        '/events': {
          get: {
            operationId: 'watch',
            parameters,
            responses: { 200: { description: '', content }, '4XX': { description: '' } },
          },
        },
      },
    });
  const respond = (sent: SerializedRequest) =>
    /undeclaredParameter|from=.*from=|from=([^r]|$)/.test(sent.url) ? responseOf(400) : silent;

  test('gets two random requests in each test', async () => {
    const { context, sent } = contextOf(await stream([]), 'watch', respond, { runs: 50 });
    expect((await testOperation(context)).failedChecks).toEqual([]);
    const requests = sent.filter(({ url }) => url === '/events');
    expect(requests).toHaveLength(2);
    expect(await testAgain(context)).toEqual([]);
    expect(sent.filter(({ url }) => url === '/events')).toHaveLength(4);
  });

  test('gets each example and edge case', async () => {
    const values = Array.from({ length: 8 }, (_, index) => `room${index}`);
    const examples = Object.fromEntries(values.map((value) => [value, { value }]));
    const schema = { type: 'string', pattern: '^room[0-9]$' };
    const exemplary = await stream([{ ...query('from', schema), examples }]);
    const { context, sent } = contextOf(exemplary, 'watch', respond);
    await testOperation(context);
    for (const value of values)
      expect(sent.map(({ url }) => url)).toContain(`/events?from=${value}`);

    const document = await stream([query('from', { enum: values })]);
    const crash = (request: SerializedRequest) =>
      request.url.endsWith('room7') ? responseOf(500) : respond(request);
    expect(await checksOf(document, 'watch', crash, { runs: 50 })).toContain(
      'no request makes the service fail: the status 500 is a failure of the service',
    );
  });
});

describe('the credentials of an operation', () => {
  const secrets = [secretOf('a')];
  const insufficientSecrets = [
    { label: 'without credentials', secrets: [] },
    { label: 'with the credential of b in place of that of key', secrets: [secretOf('b')] },
  ];
  const accepting =
    (...keys: readonly (string | undefined)[]) =>
    (sent: SerializedRequest): ReceivedResponse =>
      keys.includes(sent.headers['X-Key']) ? follow(sent) : responseOf(401);

  test.each([
    ['without credentials', undefined],
    ['with the credential of b in place of that of key', 'b'],
  ])('are required: %s', async (label, key) => {
    const options = { secrets, insufficientSecrets };
    expect(await checksOf(await rooms(), 'add', accepting('a'), options)).toEqual([]);
    const accept = accepting('a', key);
    const expected = `credentials are required: a request ${label} has the status 200, not 401 or 403`;
    expect(await checksOf(await rooms(), 'add', accept, options)).toEqual([expected]);
    const mocked = await checksOf(await rooms(), 'add', (sent) => mock(accept(sent)), options);
    expect(mocked).toEqual(label === 'without credentials' ? [expected] : []);
  });

  test.each([
    [403, 0],
    [400, 1],
    [404, 1],
  ])('must be rejected with 401 or 403 if they are insufficient: %i', async (status, count) => {
    const respond = (sent: SerializedRequest) =>
      sent.headers['X-Key'] === 'a' ? follow(sent) : responseOf(status);
    const options = { secrets, insufficientSecrets };
    expect(await checksOf(await rooms(), 'add', respond, options)).toHaveLength(count);
  });
});

test.each([400, 404, 410, 422])(
  'an operation that is tested again may reject the ids and cursors of earlier responses with %i',
  async (status) => {
    const { context } = contextOf(await rooms(), 'get', () => responseOf(status), { runs: 20 });
    const values = requestValues(context.operation, { 'path roomId': 1_234_567 });
    context.resources.addResponse(context.operation, values, responseOf(204));
    expect(await testAgain(context)).toEqual([]);
  },
);

test('an operation is tested again with existing resources only', async () => {
  const document = await rooms();
  const crash = () => responseOf(500);
  const { context, sent } = contextOf(document, 'get', crash, { runs: 20 });
  const values = requestValues(context.operation, { 'path roomId': 1_234_567 });
  context.resources.addResponse(context.operation, values, responseOf(204));
  const failedChecks = await testAgain(context);
  expect(sent.map(({ url }) => url)).toEqual(Array(5).fill('/rooms/1234567'));
  expect(failedChecks.map(({ error }) => error.check)).toEqual([
    'no request makes the service fail',
  ]);
  const list = contextOf(document, 'list', follow);
  expect(await testAgain(list.context)).toEqual([]);
  expect(list.sent.map(({ url }) => url)).toContain('/rooms?limit=20');
});

test.each([
  [1, 10],
  [2, 20],
  [100, 60],
])(
  'if one in %i requests succeeds, %i requests create at most ten resources',
  async (every, count) => {
    let received = 0;
    const respond = () => {
      received += 1;
      const body = { name: 'a', id: 1_000 + received };
      return received % every === 0 ? responseOf(200, JSON_TYPE, body) : responseOf(409);
    };
    const { context } = contextOf(await rooms(), 'add', respond);
    await createResources(context, context.resources, 1);
    expect([received, context.resources.idsOf('roomId').length]).toEqual([
      count,
      Math.min(10, Math.floor(60 / every)),
    ]);
  },
);

test('the title of an operation has its method, path and id', async () => {
  expect(titleOf(operationIn(await rooms(), 'get'))).toBe('GET /rooms/{roomId} (get)');
});
