import { describe, expect, test } from '@jest/globals';
import { CheckError } from '../../src/contract-tests/check-response.ts';
import { createCheckRunner, isMock } from '../../src/contract-tests/check-runner.ts';
import type { ReceivedResponse, SerializedRequest } from '../../src/contract-tests/client.ts';
import { type TestLog, testLog } from '../../src/contract-tests/test-log.ts';
import {
  checkedOperation,
  documentOf,
  json,
  operationIn,
  requestValues,
  responseOf,
  secretOf,
} from './test-data.ts';

async function createRunner(
  respond: (sent: SerializedRequest) => ReceivedResponse,
  { id = 'add:cat/1', log }: { readonly id?: string; readonly log?: TestLog } = {},
) {
  const document = await documentOf({
    paths: {
      '/cats': {
        post: {
          operationId: id,
          parameters: [{ name: 'X-Request-Id', in: 'header', schema: { type: 'string' } }],
          requestBody: json({ type: 'string' }),
          responses: { 204: { description: '' } },
        },
      },
    },
  });
  const operation = operationIn(document, id);
  const sent: SerializedRequest[] = [];
  const send = async (request: SerializedRequest) => {
    sent.push(request);
    return respond(request);
  };
  const target = {
    ...checkedOperation(document, operation),
    secrets: [secretOf('a')],
    client: { base: 'http://cats', send },
  };
  const draft = (text: string, parameters: Readonly<Record<string, unknown>> = {}) => ({
    values: requestValues(operation, { ...parameters, body: text }),
  });
  return { ...createCheckRunner(target, 7, log), sent, draft };
}

const accept = () => {};
const fail = (check: string, message: string) => () => {
  throw new CheckError(check, message);
};

describe('a check runner', () => {
  test('sends a request with credentials and an id, and resolves to the response', async () => {
    const response = responseOf(204);
    const { sendAndCheck, sent, draft, sentRequests, hasPassed } = await createRunner(
      () => response,
    );
    expect(await sendAndCheck(draft('a'), accept, { isStrict: true })).toBe(response);
    await sendAndCheck(draft('b'), accept, { secrets: [secretOf('c')] });
    const headers = (id: string, key: string) => ({
      ...{ 'X-Request-Id': id, 'X-Key': key, 'Content-Type': 'application/json' },
    });
    expect(sent).toEqual([
      {
        ...{ method: 'POST', url: '/cats', body: Buffer.from('"a"') },
        headers: headers('contract-7-add:cat.1-1', 'a'),
      },
      {
        ...{ method: 'POST', url: '/cats', body: Buffer.from('"b"') },
        headers: headers('contract-7-add:cat.1-2', 'c'),
      },
    ]);
    expect([sentRequests(), hasPassed()]).toEqual([2, true]);
  });

  test('shortens the id of a request to its last 64 characters, so that it remains unique', async () => {
    const { sendAndCheck, sent, draft } = await createRunner(() => responseOf(204), {
      id: 'x'.repeat(100),
    });
    await sendAndCheck(draft('a'), accept);
    expect(sent[0]?.headers['X-Request-Id']).toBe(`${'x'.repeat(62)}-1`);
  });

  test('keeps the value of a declared parameter X-Request-Id', async () => {
    const { sendAndCheck, sent, draft } = await createRunner(() => responseOf(204));
    await sendAndCheck(draft('a', { 'header X-Request-Id': 'of the draft' }), accept);
    expect(sent[0]?.headers['X-Request-Id']).toBe('of the draft');
  });

  test.each([
    ['an undeclared status', responseOf(201), 'each status is declared'],
    ['a body with the status 204', responseOf(204, {}, 'a'), undefined],
    ['the status 500', responseOf(500), 'no request makes the service fail'],
    ['the status 503', responseOf(503), 'no request makes the service fail'],
    ['the status 500 of a mock', responseOf(500, { 'x-mock': 'true' }), 'each status is declared'],
    ['the status 413', responseOf(413), undefined],
    ['a client error', responseOf(499), 'each status is declared'],
  ])('checks the response: %s', async (_name, response, check) => {
    const { sendAndCheck, draft, failedChecks } = await createRunner(() => response);
    await sendAndCheck(draft('a'), accept, { isStrict: true });
    const checks = (await failedChecks()).map(({ error }) => error.check);
    expect(checks).toEqual(check === undefined ? [] : [check]);
  });

  test('does not require a declared status by default', async () => {
    const { sendAndCheck, draft, hasPassed } = await createRunner(() => responseOf(201));
    await sendAndCheck(draft('a'), accept);
    expect(hasPassed()).toBe(true);
  });

  test('reports a request without a response', async () => {
    const { sendAndCheck, draft, failedChecks } = await createRunner(() => {
      throw new Error('socket hang up');
    });
    expect(await sendAndCheck(draft('a'), accept)).toBeUndefined();
    expect(await failedChecks()).toMatchObject([
      {
        error: {
          check: 'each request gets a response',
          message: 'there is no response: socket hang up',
        },
        response: undefined,
      },
    ]);
  });

  test('keeps the shortest request for each check, with the logged cause', async () => {
    const log = testLog();
    const { sendAndCheck, draft, failedChecks, hasPassed } = await createRunner(
      () => responseOf(204),
      {
        log,
      },
    );
    await sendAndCheck(draft('bbb'), fail('one', 'long'));
    await sendAndCheck(draft('a'), fail('one', 'short'));
    await sendAndCheck(draft('c'), fail('one', 'as short'));
    await sendAndCheck(draft('dd'), fail('one', 'longer'));
    await sendAndCheck(draft('e'), fail('two', 'other'));
    for (const request of [1, 2, 3, 4, 5])
      log.info({ requestId: `contract-7-add:cat.1-${request}`, reason: `cause ${request}` });
    expect(hasPassed()).toBe(false);
    const curl = (body: string) =>
      `curl -i -X POST 'http://cats/cats' -H 'X-Key: TOKEN' -H 'Content-Type: application/json' --data-raw '"${body}"'`;
    expect(await failedChecks()).toEqual([
      {
        error: new CheckError('one', 'short'),
        response: responseOf(204),
        curl: curl('a'),
        cause: 'cause 2',
      },
      {
        error: new CheckError('two', 'other'),
        response: responseOf(204),
        curl: curl('e'),
        cause: 'cause 5',
      },
    ]);
  });

  test('runs another check of a response', async () => {
    const { runCheck, draft, failedChecks, sentRequests } = await createRunner(() =>
      responseOf(204),
    );
    await runCheck(draft('a'), responseOf(200), accept);
    await runCheck(draft('a'), responseOf(200), async () => fail('one', 'late')());
    expect(await failedChecks()).toMatchObject([
      { error: { check: 'one' }, response: { status: 200 }, cause: undefined },
    ]);
    expect(sentRequests()).toBe(0);
  });

  test('rethrows errors other than failed checks', async () => {
    const { sendAndCheck, runCheck, draft } = await createRunner(() => responseOf(204));
    const bug = () => {
      throw new TypeError('a bug');
    };
    await expect(sendAndCheck(draft('a'), bug)).rejects.toThrow(TypeError);
    await expect(runCheck(draft('a'), responseOf(200), bug)).rejects.toThrow(TypeError);
  });
});

test.each([
  [{ 'x-mock': 'true' }, true],
  [{ 'x-mock': '' }, true],
  [{}, false],
])('a response with the headers %p is the response of a mock: %p', (headers, expected) => {
  expect(isMock(responseOf(200, headers))).toBe(expected);
});
