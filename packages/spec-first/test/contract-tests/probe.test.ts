import { describe, expect, test } from '@jest/globals';
import { Fault, validatorsFor } from '../../src/contract-tests/checks.ts';
import type { ReceivedResponse, Sent } from '../../src/contract-tests/client.ts';
import type { Secret } from '../../src/contract-tests/credentials.ts';
import { type TestLog, testLog } from '../../src/contract-tests/log.ts';
import { isMock, probeOf } from '../../src/contract-tests/probe.ts';
import { answerOf, documentOf, json, operationIn, valuesOf } from './document-of.ts';

const secret = (value: string): Secret => ({
  ...{ scheme: 'key', in: 'header', name: 'X-Key', value },
});

/** Returns a probe of an operation with the id `add:cat/1` that accepts a text. */
async function probed(
  respond: (sent: Sent) => ReceivedResponse,
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
  const { root } = document;
  const operation = operationIn(document, id);
  const sent: Sent[] = [];
  const send = async (request: Sent) => {
    sent.push(request);
    return respond(request);
  };
  const target = {
    ...{ root, operation, oracle: () => undefined, secrets: [secret('a')] },
    client: { base: 'http://cats', send },
    validator: validatorsFor(root)(operation),
  };
  const draft = (text: string, parameters: Readonly<Record<string, unknown>> = {}) => ({
    values: valuesOf(operation, { ...parameters, body: text }),
  });
  return { ...probeOf(target, 7, log), sent, draft };
}

const accept = () => {};
const fail = (check: string, message: string) => () => {
  throw new Fault(check, message);
};

describe('a probe', () => {
  test('sends a request with credentials and an id, and resolves to the response', async () => {
    const answer = answerOf(204);
    const { attempt, sent, draft, sentRequests, isFaultless } = await probed(() => answer);
    expect(await attempt(draft('a'), accept, { isStrict: true })).toBe(answer);
    await attempt(draft('b'), accept, { secrets: [secret('c')] });
    const headers = (id: string, key: string) => ({
      ...{ 'X-Request-Id': id, 'X-Key': key, 'Content-Type': 'application/json' },
    });
    expect(sent).toEqual([
      {
        ...{ method: 'POST', target: '/cats', body: Buffer.from('"a"') },
        headers: headers('contract-7-add:cat.1-1', 'a'),
      },
      {
        ...{ method: 'POST', target: '/cats', body: Buffer.from('"b"') },
        headers: headers('contract-7-add:cat.1-2', 'c'),
      },
    ]);
    expect([sentRequests(), isFaultless()]).toEqual([2, true]);
  });

  test('shortens the id of a request to 64 characters, so that it remains unique', async () => {
    const { attempt, sent, draft } = await probed(() => answerOf(204), { id: 'x'.repeat(100) });
    await attempt(draft('a'), accept);
    expect(sent[0]?.headers['X-Request-Id']).toBe(`${'x'.repeat(62)}-1`);
  });

  test('keeps the value of a declared parameter X-Request-Id', async () => {
    const { attempt, sent, draft } = await probed(() => answerOf(204));
    await attempt(draft('a', { 'header X-Request-Id': 'of the draft' }), accept);
    expect(sent[0]?.headers['X-Request-Id']).toBe('of the draft');
  });

  test.each([
    ['an undeclared status', answerOf(201), 'each status is declared'],
    ['a body that is not declared', answerOf(204, {}, 'a'), undefined],
    ['a failure', answerOf(500), 'no request makes the service fail'],
    ['a failure', answerOf(503), 'no request makes the service fail'],
    ['a failure of a mock', answerOf(500, { 'x-mock': 'true' }), 'each status is declared'],
    ['a body that is too large', answerOf(413), undefined],
    ['a client error', answerOf(499), 'each status is declared'],
  ])('checks the response: %s', async (_name, answer, check) => {
    const { attempt, draft, failedChecks } = await probed(() => answer);
    await attempt(draft('a'), accept, { isStrict: true });
    const checks = (await failedChecks()).map(({ fault }) => fault.check);
    expect(checks).toEqual(check === undefined ? [] : [check]);
  });

  test('does not require a declared status by default', async () => {
    const { attempt, draft, isFaultless } = await probed(() => answerOf(201));
    await attempt(draft('a'), accept);
    expect(isFaultless()).toBe(true);
  });

  test('reports a request without a response', async () => {
    const { attempt, draft, failedChecks } = await probed(() => {
      throw new Error('socket hang up');
    });
    expect(await attempt(draft('a'), accept)).toBeUndefined();
    expect(await failedChecks()).toMatchObject([
      {
        fault: {
          check: 'each request gets a response',
          message: 'there is no response: socket hang up',
        },
        answer: undefined,
      },
    ]);
  });

  test('keeps the shortest request for each check, with the logged cause', async () => {
    const log = testLog();
    const { attempt, draft, failedChecks, isFaultless } = await probed(() => answerOf(204), {
      log,
    });
    await attempt(draft('bbb'), fail('one', 'long'));
    await attempt(draft('a'), fail('one', 'short'));
    await attempt(draft('c'), fail('one', 'as short'));
    await attempt(draft('dd'), fail('one', 'longer'));
    await attempt(draft('e'), fail('two', 'other'));
    for (const request of [1, 2, 3, 4, 5])
      log.info({ requestId: `contract-7-add:cat.1-${request}`, reason: `cause ${request}` });
    expect(isFaultless()).toBe(false);
    const curl = (body: string) =>
      `curl -i -X POST 'http://cats/cats' -H 'X-Key: a' -H 'Content-Type: application/json' --data-raw '"${body}"'`;
    expect(await failedChecks()).toEqual([
      {
        fault: new Fault('one', 'short'),
        answer: answerOf(204),
        curl: curl('a'),
        cause: 'cause 2',
      },
      {
        fault: new Fault('two', 'other'),
        answer: answerOf(204),
        curl: curl('e'),
        cause: 'cause 5',
      },
    ]);
  });

  test('runs another check of a response', async () => {
    const { runCheck, draft, failedChecks, sentRequests } = await probed(() => answerOf(204));
    await runCheck(draft('a'), answerOf(200), accept);
    await runCheck(draft('a'), answerOf(200), async () => fail('one', 'late')());
    expect(await failedChecks()).toMatchObject([
      { fault: { check: 'one' }, answer: { status: 200 }, cause: undefined },
    ]);
    expect(sentRequests()).toBe(0);
  });

  test('rethrows errors other than faults', async () => {
    const { attempt, runCheck, draft } = await probed(() => answerOf(204));
    const bug = () => {
      throw new TypeError('a bug');
    };
    await expect(attempt(draft('a'), bug)).rejects.toThrow(TypeError);
    await expect(runCheck(draft('a'), answerOf(200), bug)).rejects.toThrow(TypeError);
  });
});

test.each([
  [{ 'x-mock': 'true' }, true],
  [{ 'x-mock': '' }, true],
  [{}, false],
])('a response with the headers %p is one of a mock: %p', (headers, expected) => {
  expect(isMock(answerOf(200, headers))).toBe(expected);
});
