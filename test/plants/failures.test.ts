import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { eventually } from 'test-support/eventually';
import {
  connected,
  type Exchange,
  exchange,
  type RawResponse,
  request,
} from 'test-support/raw-http';
import { openStore } from '../../src/stores/index.ts';
import { type Differences, type Service, serve, TOKEN } from './support/plant-service.ts';

const AUTHORIZED = { Authorization: `Bearer ${TOKEN}` };
const JSON_BODY = { ...AUTHORIZED, 'Content-Type': 'application/json' };
const PLANT = '{"id":1,"name":"Monstera"}';
const GOOD = request('POST /plants', JSON_BODY, PLANT);

const running: Service[] = [];
let service: Service;

async function startService(differences: Differences): Promise<Service> {
  const started = await serve(differences);
  running.push(started);
  return started;
}

beforeAll(async () => {
  // After an error, a connection stays open for this time if the client does not close it.
  service = await startService({ limits: { lingerTimeout: 500 } });
});

afterAll(() => Promise.all(running.map((started) => started.stop())));

const http = ({ port } = service) => supertest(`http://127.0.0.1:${port}`);

const post = (body: string | Buffer, headers: Record<string, string> = {}, to = service) =>
  http(to)
    .post('/plants')
    .set({ ...JSON_BODY, ...headers })
    .serialize((data) => data)
    .send(body);

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

/** Checks that a response has the declared error body. Returns its message. */
function failure({ status, headers, text }: Answer, expected: number): string {
  expect({ status, text }).toMatchObject({ status: expected });
  expect(headers['content-type']).toBe('application/json');
  expect(headers).not.toHaveProperty('x-powered-by');
  expect(headers).not.toHaveProperty('server');
  expect(headers['content-length']).toBe(String(Buffer.byteLength(text)));
  const body: unknown = JSON.parse(text);
  expect(body).toEqual({ error: expected, message: expect.stringMatching(/^[^\n]{10,}$/) });
  expect(text).not.toMatch(/<html|node_modules|\.[jt]s\b|\bat \S+:\d/);
  return String((body as { message?: unknown }).message);
}

const answerOf = ({ status, headers, body }: RawResponse): Answer => ({
  status,
  headers,
  text: body.toString(),
});

/** Checks that an exchange ends with an error, and with a closed connection. Returns the message. */
function lastAnswer({ responses, rest, closed }: Exchange, status: number): string {
  const last = responses.at(-1);
  expect({ last: last?.status, rest, closed }).toEqual({ last: status, rest: '', closed: true });
  if (last === undefined) throw new Error('no answer');
  expect(last.headers.connection).toBe('close');
  expect(Date.parse(last.headers.date ?? '')).toBeGreaterThan(Date.now() - 60_000);
  return failure(answerOf(last), status);
}

const linesOf = (started: Service): object[] =>
  started
    .log()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** Sends bytes, and reads until the server closes the connection. */
const send = (bytes: string | Uint8Array, to = service) =>
  exchange(to.port, bytes, { responses: Number.POSITIVE_INFINITY });

const chunked = (headers: Record<string, string>) => ({
  ...headers,
  'Transfer-Encoding': 'chunked',
});
const chunk = (bytes: Buffer) => `${bytes.length.toString(16)}\r\n${bytes.toString('latin1')}\r\n`;

describe('a body', () => {
  test('that violates NewPlant gets 400 with the path of each violation', async () => {
    const message = failure(await post('{"id":"1","tag":2}'), 400);
    expect(message).toContain('/body/id must be integer');
    expect(message).toContain('/body/tag must be string');
    expect(message).toContain('/body/name is required');
  });

  test.each([
    ['unfinished JSON', '{"id":1,', 9],
    ['a word', 'undefined', 1],
    ['two values', '{} {}', 4],
  ])('of %s gets 400 with the place of the error', async (_title, body, column) => {
    const message = `the body must be JSON (invalid at line 1, column ${column})`;
    expect(failure(await post(body), 400)).toBe(message);
  });

  test('may begin with a byte order mark', async () => {
    expect((await post('\uFEFF{"id":6,"name":"a"}')).status).toBe(200);
  });

  test('that is missing gets 400', async () => {
    expect(failure(await http().post('/plants').set(JSON_BODY), 400)).toMatch(
      /^\/body is required/,
    );
    const { responses } = await exchange(
      service.port,
      request('POST /plants', { ...JSON_BODY, 'Content-Length': '0' }),
    );
    expect(responses[0]?.status).toBe(400);
  });

  test('with a repeated key gets 400 with the place', async () => {
    const answer = await post('{"id":5,"name":1,"name":"a"}');
    expect(failure(answer, 400)).toContain('name');
  });

  test('larger than the limit gets 413 with the limit, also in gzip or chunks', async () => {
    const large = JSON.stringify({ id: 1, name: 'a'.repeat(100 * 1024) });
    for (const body of [post(large), post(gzipSync(large), { 'Content-Encoding': 'gzip' })])
      expect(failure(await body, 413)).toBe(
        'the body must be at most 102400 bytes (BODY_LIMIT, or the limit in the document)',
      );
    // The body has no end.
    const { responses } = await exchange(
      service.port,
      request('POST /plants', chunked(JSON_BODY)) + chunk(Buffer.from(large)),
    );
    expect(responses.map(({ status }) => status)).toEqual([413]);
  });

  test.each(['gzip', 'identity'])(
    'of %s whose Content-Length is too large gets 413 before it arrives',
    async (coding) => {
      const headers = { ...JSON_BODY, 'Content-Encoding': coding, 'Content-Length': '99999999999' };
      const { responses } = await exchange(service.port, request('POST /plants', headers));
      expect(responses.map(({ status }) => status)).toEqual([413]);
    },
  );

  test('of gzip that decompresses to 80 MiB gets 413', async () => {
    const bomb = gzipSync(Buffer.alloc(80 * 1024 * 1024));
    expect((await post(bomb, { 'Content-Encoding': 'gzip' })).status).toBe(413);
  });

  test('of gzip with a header larger than the limit gets 413', async () => {
    const HAS_NAME = 8;
    const header = Buffer.from([0x1f, 0x8b, 8, HAS_NAME, 0, 0, 0, 0, 0, 255]);
    const body = chunk(Buffer.concat([header, Buffer.alloc(200_000, 'a')]));
    const { responses } = await exchange(
      service.port,
      request('POST /plants', chunked({ ...JSON_BODY, 'Content-Encoding': 'gzip' })) + body,
    );
    expect(responses.map(({ status }) => status)).toEqual([413]);
  });

  test('of exactly the limit is accepted', async () => {
    const frame = '{"id":4,"name":""}';
    const name = 'a'.repeat(100 * 1024 - frame.length);
    expect((await post(`{"id":4,"name":"${name}"}`)).status).toBe(200);
    expect(
      (await post(gzipSync(`{"id":4,"name":"${name}"}`), { 'Content-Encoding': 'gzip' })).status,
    ).toBe(200);
  });

  test.each([
    ['another media type', 'text/plain'],
    ['a media type that starts with application/json', 'application/jsonp'],
    ['an invalid media type', 'json'],
  ])('of %s gets 415 with Accept', async (_title, type) => {
    const answer = await post(PLANT, { 'Content-Type': type });
    expect(failure(answer, 415)).toBe('the body must be application/json');
    expect(answer.headers.accept).toBe('application/json');
  });

  test('without a media type gets 415', async () => {
    const { responses } = await exchange(service.port, request('POST /plants', AUTHORIZED, PLANT));
    expect(responses.map(({ status }) => status)).toEqual([415]);
  });

  test('of another charset gets 415', async () => {
    for (const charset of ['iso-8859-1', 'utf-16', '"UTF-7"', 'nonsense']) {
      const answer = await post(PLANT, { 'Content-Type': `application/json; charset=${charset}` });
      expect(failure(answer, 415)).toBe('the charset of the body must be utf-8');
    }
    expect((await post(PLANT, { 'Content-Type': 'Application/JSON;charset="UTF-8"' })).status).toBe(
      200,
    );
  });

  test('of another encoding gets 415 with Accept-Encoding', async () => {
    for (const encoding of ['deflate', 'br', 'zstd', 'gzip, gzip', 'nonsense']) {
      const answer = await post(PLANT, { 'Content-Encoding': encoding });
      expect(failure(answer, 415)).toBe('the content encoding must be gzip or identity');
      expect(answer.headers['accept-encoding']).toBe('gzip, identity');
    }
  });

  test('that is not in its Content-Encoding gets 400', async () => {
    const zipped = gzipSync(PLANT);
    for (const bytes of [
      Buffer.from(PLANT),
      zipped.subarray(0, 12),
      Buffer.concat([zipped, Buffer.from('more')]),
    ]) {
      const answer = await post(bytes, { 'Content-Encoding': 'gzip' });
      expect(failure(answer, 400)).toBe('the body does not have the declared Content-Encoding');
    }
  });
});

describe('credentials', () => {
  test.each<[string, string | undefined, string]>([
    ['are missing', undefined, 'Bearer'],
    ['are of another scheme', `Basic ${TOKEN}`, 'Bearer'],
    ['contain the word Bearer', `Basic xx Bearer ${TOKEN}`, 'Bearer'],
    ['are another token', 'Bearer another', 'Bearer error="invalid_token"'],
    ['have text after the token', `Bearer ${TOKEN} more`, 'Bearer error="invalid_token"'],
    [
      'are the beginning of the token',
      `Bearer ${TOKEN.slice(0, -1)}`,
      'Bearer error="invalid_token"',
    ],
    ['are an empty token', 'Bearer ', 'Bearer error="invalid_token"'],
  ])('that %s get 401 with a challenge', async (_title, authorization, challenge) => {
    const answer = await http()
      .post('/plants')
      .set({
        'Content-Type': 'application/json',
        ...(authorization !== undefined && { Authorization: authorization }),
      })
      .send(PLANT);
    failure(answer, 401);
    expect(answer.headers['www-authenticate']).toBe(challenge);
  });

  test('are checked before the body is read', async () => {
    const waiting = {
      'Content-Type': 'application/json',
      Expect: '100-continue',
      'Content-Length': '26',
    };
    const denied = await exchange(service.port, request('POST /plants', waiting));
    expect(denied.responses.map(({ status }) => status)).toEqual([401]);

    const socket = await connected(service.port);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.write(request('POST /plants', { ...waiting, ...AUTHORIZED }));
    await eventually(() => received === 'HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(PLANT);
    await eventually(() => /100 Continue\r\n\r\nHTTP\/1\.1 200 OK/.test(received));
    socket.destroy();
  });

  test('are checked before the media type and the size', async () => {
    const large = { 'Content-Type': 'text/plain', 'Content-Length': '99999999999' };
    const { responses } = await exchange(service.port, request('POST /plants', large));
    expect(responses.map(({ status }) => status)).toEqual([401]);
  });

  test('that are two tokens in one header get 400', async () => {
    const answer = await http()
      .post('/plants')
      .set('Authorization', `Bearer ${TOKEN}, Bearer ${TOKEN}`)
      .send({ id: 1, name: 'Fern' });
    expect(failure(answer, 400)).toBe('the header authorization must have one credential');
  });

  test('in two headers get 400, and two media types get 400', async () => {
    const twice = (header: string) =>
      exchange(service.port, GOOD.replace('\r\n', `\r\n${header}\r\n`));
    for (const header of [
      'Authorization: Bearer another',
      `Authorization: Bearer ${TOKEN}`,
      'Content-Type: text/plain',
    ]) {
      const { responses } = await twice(header);
      expect(
        responses.map((answer) => [answer.status, JSON.parse(String(answer.body)).error]),
      ).toEqual([[400, 400]]);
    }
  });
});

describe('a path', () => {
  test.each([
    '/plant',
    '/plants/',
    '//plants',
    '/plants/1',
    '/Plants',
    '/plants%2f',
    '/%2e%2e/plants',
    '/__proto__',
  ])('%s gets 404', async (path) => {
    const { responses } = await exchange(service.port, request(`POST ${path}`, JSON_BODY, PLANT));
    failure(answerOf(responses[0] as RawResponse), 404);
  });

  test.each(['/%', '/%zz', '/plants%', '/%ff', '/plants/%c0%80', '/healthz/%ff', '/docs/%ff'])(
    '%s, which is not percent-encoded UTF-8, gets 400',
    async (path) => {
      const { responses } = await exchange(service.port, request(`GET ${path}`));
      failure(answerOf(responses[0] as RawResponse), 400);
    },
  );

  test.each(['get', 'put', 'delete', 'patch', 'options', 'trace'] as const)(
    'rejects the method %s with 405 and the header Allow',
    async (method) => {
      const answer = await http()[method]('/plants').set(AUTHORIZED);
      failure(answer, 405);
      expect(answer.headers.allow).toBe('POST');
    },
  );

  test('for operators rejects POST with 405 and the header Allow', async () => {
    for (const path of ['/', '/healthz', '/readyz', '/docs', '/openapi.yaml', '/openapi.json']) {
      const answer = await http().post(path).set(JSON_BODY).send(PLANT);
      failure(answer, 405);
      expect(answer.headers.allow).toBe('GET, HEAD');
    }
  });

  test('in absolute form is matched by its path', async () => {
    const { responses } = await exchange(
      service.port,
      request('POST http://elsewhere:1/plants?', JSON_BODY, PLANT),
    );
    expect(responses[0]?.status).toBe(200);
    const open = await exchange(service.port, request('POST http://elsewhere/plants', {}, PLANT));
    expect(open.responses[0]?.status).toBe(401);
  });

  test.each([
    'GET http://elsewhere/nothing?x',
    'POST http://elsewhere/nothing',
    'POST http://[::1]:1/nothing?x',
    'GET //elsewhere/healthz',
  ])('%s gets 404', async (line) => {
    const { responses } = await exchange(service.port, request(line));
    failure(answerOf(responses[0] as RawResponse), 404);
  });

  test('with a query that the operation does not declare gets 400', async () => {
    const answer = await http().post('/plants?id=1').set(JSON_BODY).send(PLANT);
    expect(failure(answer, 400)).toBe('/query/id is not a parameter of this operation');
  });
});

describe('the service', () => {
  test('answers 503 with Retry-After while the store is unreachable, and logs the reason', async () => {
    const store = await openStore('sqlite::memory:', { maxWaiting: 1 });
    const broken = await startService({ store });
    await store.close();
    for (const answer of [await post(PLANT, {}, broken), await http(broken).get('/readyz')]) {
      failure(answer, 503);
      expect(answer.headers['retry-after']).toBe('1');
    }
    expect((await http(broken).get('/healthz')).status).toBe(200);
    expect(broken.log()).toContain('The database is closed.');
  });

  test('answers 500 for an internal error, and writes the cause only to the log', async () => {
    const buggy = await startService({
      handlers: {
        createPlant() {
          throw new Error('the cause');
        },
      },
    });
    const answer = await post(PLANT, {}, buggy);
    expect(failure(answer, 500)).not.toContain('cause');
    expect(buggy.log()).toContain('the cause');
  });

  test.each<[string, object]>([
    ['an undeclared body', { status: 200, body: { name: 1 } }],
    ['no body', { status: 200 }],
    ['an undeclared media type', { status: 200, contentType: 'text/html', body: '<html>' }],
    ['an invalid status', { status: 99, body: {} }],
    ['a broken error body', { status: 503, body: { error: 'no' } }],
    [
      'a header that violates its schema',
      { status: 503, headers: { 'Retry-After': 'soon' }, body: { error: 503, message: 'm' } },
    ],
  ])('answers 500 for a reply with %s', async (_title, reply) => {
    const buggy = await startService({ handlers: { createPlant: async () => reply as never } });
    failure(await post(PLANT, {}, buggy), 500);
    expect(buggy.log()).toContain('InvalidReply');
  });

  test('answers requests after these errors', async () => {
    expect((await exchange(service.port, GOOD)).responses[0]?.status).toBe(200);
  });
});

describe('bytes', () => {
  test.each([
    ['that are not HTTP', 'hello there\r\n\r\n', 'the request line must begin with a method'],
    [
      'of a TLS handshake',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc',
      'the request line must begin with a method',
    ],
    [
      'with a method in lower case',
      'post /plants HTTP/1.1\r\nHost: a\r\n\r\n',
      'the request line must begin with a method',
    ],
    [
      'with an unknown method',
      'FOO / HTTP/1.1\r\nHost: a\r\n\r\n',
      'the request line must begin with a method',
    ],
    [
      'with a target that is not percent-encoded',
      'GET /caf\xe9 HTTP/1.1\r\nHost: a\r\n\r\n',
      'the request target must be percent-encoded',
    ],
    [
      'with a target without a host',
      'GET http:///healthz HTTP/1.1\r\nHost: a\r\n\r\n',
      'the target must be a path',
    ],
    [
      'with an invalid port in the target',
      'GET http://a:b/healthz HTTP/1.1\r\nHost: a\r\n\r\n',
      'the target must be a path',
    ],
    [
      'with an invalid host in the target',
      'GET http://[/healthz HTTP/1.1\r\nHost: a\r\n\r\n',
      'the target must be a path',
    ],
    [
      'with a target of another scheme',
      'GET ftp://a/healthz HTTP/1.1\r\nHost: a\r\n\r\n',
      'the target must be a path',
    ],
    ['with the target * and GET', 'GET * HTTP/1.1\r\nHost: a\r\n\r\n', 'the target must be a path'],
    ['of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', ''],
    [
      'with an unknown version of HTTP',
      'GET /healthz HTTP/3.7\r\nHost: a\r\n\r\n',
      'the version of HTTP must be 1.0 or 1.1',
    ],
    ['of HTTP/0.9', 'GET /healthz\r\n\r\n', 'the version of HTTP must be 1.0 or 1.1'],
    ['without Host', 'GET /healthz HTTP/1.1\r\n\r\n', 'the header host must come once'],
    [
      'with two Hosts',
      'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n',
      'the header host must come once',
    ],
    [
      'with an invalid Host',
      'GET /healthz HTTP/1.1\r\nHost: a/b\r\n\r\n',
      'the header host must come once',
    ],
    [
      'with a space before a colon',
      'GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n',
      'a header must be a name',
    ],
    ['with a folded header', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n', ''],
    ['with LF instead of CRLF', 'GET /healthz HTTP/1.1\nHost: a\n\n', ''],
    [
      'with a NUL in a header',
      'GET /healthz HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n',
      'a header must be a name',
    ],
  ])('%s get 400', async (_title, bytes, message) => {
    expect(lastAnswer(await send(bytes), 400)).toContain(message);
  });

  test.each([
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6', 'Content-Length must come once'],
    [
      'a length and chunks',
      'Content-Length: 5\r\nTransfer-Encoding: chunked',
      'the transfer coding must be chunked',
    ],
    [
      'chunks and a length',
      'Transfer-Encoding: chunked\r\nContent-Length: 5',
      'Content-Length must be',
    ],
    ['a negative length', 'Content-Length: -1', 'Content-Length must be a number'],
    [
      'a length above 2^53',
      'Content-Length: 99999999999999999999999',
      'Content-Length must be a number',
    ],
    ['another transfer coding', 'Transfer-Encoding: gzip', 'the transfer coding must be chunked'],
    [
      'a transfer coding before the chunks',
      'Transfer-Encoding: gzip, chunked',
      'the transfer coding must be chunked',
    ],
    [
      'a chunk without a size',
      'Transfer-Encoding: chunked\r\n\r\nzz',
      'a chunk must begin with its size',
    ],
  ])('with %s get 400', async (_title, headers, message) => {
    const head = request('POST /plants', JSON_BODY).slice(0, -2);
    expect(lastAnswer(await send(`${head}${headers}\r\n\r\n`), 400)).toContain(message);
  });

  test('in HTTP/1.0 with chunks get 400', async () => {
    const head = `POST /plants HTTP/1.0\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: keep-alive\r\n`;
    expect(
      lastAnswer(await send(`${head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`), 400),
    ).toContain('HTTP/1.1');
  });

  test('in HTTP/1.0 get a response, also without Host', async () => {
    const head = `POST /plants HTTP/1.0\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n`;
    const { responses, closed } = await send(
      `${head}Content-Length: ${PLANT.length}\r\n\r\n${PLANT}`,
    );
    expect(responses.map(({ status }) => status)).toEqual([200]);
    expect(closed).toBe(true);
  });

  test('in HTTP/1.0 get no 100 Continue', async () => {
    const fields = [
      `Authorization: Bearer ${TOKEN}`,
      'Content-Type: application/json',
      'Expect: 100-continue',
    ];
    const head = [
      'POST /plants HTTP/1.0',
      ...fields,
      `Content-Length: ${PLANT.length}`,
      '',
      '',
    ].join('\r\n');
    const { responses } = await send(head + PLANT);
    expect(responses.map(({ status }) => status)).toEqual([200]);
  });

  test('of a header section that is too large get 431 with the limits', async () => {
    const large = 'a'.repeat(16_500);
    for (const bytes of [
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${large}`,
      `GET /${large} HTTP/1.1\r\nHost: a\r\n\r\n`,
    ]) {
      expect(lastAnswer(await send(bytes), 431)).toBe(
        'the header section must have at most 16384 bytes and 199 headers',
      );
    }
  });

  test('of chunk extensions that are too large get 413, and the reason is logged', async () => {
    const watched = await startService({});
    const bytes = `${request('POST /plants', chunked(JSON_BODY))}1;${'a'.repeat(20_000)}\r\n`;
    const reason = lastAnswer(await send(bytes, watched), 413);
    await eventually(() => linesOf(watched).length > 0);
    expect(linesOf(watched)).toEqual([
      expect.objectContaining({
        requestId: expect.any(String),
        status: 413,
        reason,
        msg: 'answered',
      }),
    ]);
  });

  test('of CONNECT get 405 with an empty Allow, also if the client resets connections', async () => {
    const connect = 'CONNECT elsewhere:443 HTTP/1.1\r\nHost: elsewhere\r\n\r\n';
    const answer = await send(connect);
    lastAnswer(answer, 405);
    expect(answer.responses[0]?.headers.allow).toBe('');
    for (let round = 0; round < 20; round += 1) {
      const socket = await connected(service.port);
      socket.write(
        round % 2 === 0 ? connect : connect.replace('\r\n\r\n', '\r\nContent-Length: 5\r\n\r\n'),
      );
      await delay(round % 5);
      socket.resetAndDestroy();
    }
    expect((await exchange(service.port, GOOD)).responses[0]?.status).toBe(200);
  });

  test('with a request to upgrade get a response in HTTP/1.1', async () => {
    const upgrade = {
      Connection: 'Upgrade, HTTP2-Settings',
      Upgrade: 'h2c',
      'HTTP2-Settings': 'AAMAAABkAAQAAP__',
    };
    const { responses } = await exchange(service.port, request('GET /healthz', upgrade));
    expect(responses.map(({ status }) => status)).toEqual([200]);
  });

  test('with an unknown expectation get 417', async () => {
    lastAnswer(
      await send(request('POST /plants', { ...JSON_BODY, Expect: 'tea', 'Content-Length': '5' })),
      417,
    );
  });

  test('of an unfinished request get 400, if the client still reads', async () => {
    const cut = await exchange(service.port, GOOD.slice(0, -5), { end: true });
    expect(cut.responses.map(answerOf).map((answer) => failure(answer, 400))).toEqual([
      'the request was cut off',
    ]);
    const headers = await exchange(service.port, GOOD.slice(0, 40), { end: true });
    expect(headers.responses.map(({ status }) => status)).toEqual([400]);
  });

  test('that are rejected before routing are logged with a status and a reason, without their text', async () => {
    const watched = await startService({});
    const secret = 'what-the-client-wrote';
    const rejections: [string, number][] = [
      [`${secret}\r\n\r\n`, 400],
      [`GET /${secret} HTTP/1.1\r\nHost: ${secret}\r\nHost: a\r\n\r\n`, 400],
      [request(`GET /${secret}`, { 'X-Large': secret.repeat(1_000) }), 431],
      [`CONNECT ${secret}:1 HTTP/1.1\r\nHost: ${secret}\r\n\r\n`, 405],
      [request('POST /plants', { ...JSON_BODY, Expect: secret, 'Content-Length': '5' }), 417],
    ];
    const expected: object[] = [];
    for (const [bytes, status] of rejections) {
      const reason = lastAnswer(await send(bytes, watched), status);
      expected.push(
        expect.objectContaining({
          level: 30,
          client: '127.0.0.1',
          status,
          reason,
          msg: 'rejected',
        }),
      );
    }
    await eventually(() => linesOf(watched).length >= expected.length);
    expect(linesOf(watched)).toEqual(expected);
    expect(watched.log()).not.toContain(secret);
  });

  test('with too many headers get 431', async () => {
    const many = Array.from({ length: 3_000 }, () => 'a:\r\n').join('');
    const head = `POST /plants HTTP/1.1\r\n${many}`;
    lastAnswer(await send(head + GOOD.slice(GOOD.indexOf('\r\n') + 2)), 431);
  });
});

describe('pipelined requests', () => {
  test('get responses in their order', async () => {
    const { responses } = await exchange(service.port, `${GOOD}${request('GET /nothing')}${GOOD}`, {
      responses: 3,
    });
    expect(responses.map(({ status }) => status)).toEqual([200, 404, 200]);
  });

  test.each([
    ['garbage', 'GARBAGE\0\r\n\r\n', 400],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
    [
      'a broken body',
      `${GOOD.slice(0, GOOD.indexOf('Content-Length'))}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
      400,
    ],
  ])('before %s get their responses first', async (_title, bytes, status) => {
    const answer = await send(`${GOOD}${GOOD}${bytes}`);
    lastAnswer(answer, status);
    expect(answer.responses.map((response) => response.status)).toEqual([200, 200, status]);
  });

  test('get no second response if a body becomes invalid after the first response', async () => {
    const denied = request('POST /plants', {
      'Content-Type': 'application/json',
      'Transfer-Encoding': 'chunked',
    });
    const socket = await connected(service.port);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(denied);
    await eventually(() => received !== '');
    socket.write('zz\r\n');
    await closed;
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
  });
});

describe('a slow client', () => {
  const SHORT_LIMITS = {
    // Long enough for the headers of a test to arrive on a busy machine.
    headersTimeout: 1_000,
    requestTimeout: 1_500,
    // Longer than a test: only the other limits close connections.
    idleTimeout: 600_000,
    keepAliveTimeout: 500,
    lingerTimeout: 200,
  };
  let serviceWithShortLimits: Service;

  beforeAll(async () => {
    serviceWithShortLimits = await startService({ limits: SHORT_LIMITS });
  });

  test.each([
    ['sends nothing', ''],
    ['does not finish its headers', 'POST /plants HTTP/1.1\r\nHost: a\r\n'],
    ['does not finish its body', GOOD.slice(0, -1)],
  ])('that %s gets 408', async (_title, bytes) => {
    const answer = await send(bytes, serviceWithShortLimits);
    expect(lastAnswer(answer, 408)).toBe('the request did not arrive in time');
  });

  test('is logged with the reason, as a request if its headers have arrived', async () => {
    const watched = await startService({ limits: SHORT_LIMITS });
    const reason = lastAnswer(await send(GOOD.slice(0, 40), watched), 408);
    lastAnswer(await send(GOOD.slice(0, -1), watched), 408);
    await eventually(() => linesOf(watched).length === 2);
    expect(linesOf(watched)).toEqual([
      expect.objectContaining({ client: '127.0.0.1', status: 408, reason, msg: 'rejected' }),
      expect.objectContaining({ operationId: 'createPlant', status: 408, reason, msg: 'answered' }),
    ]);
  });

  test('is disconnected if its request continues too long after the response', async () => {
    const denied = request('POST /plants', {
      'Content-Type': 'application/json',
      'Content-Length': '1000',
    });
    const { responses, closed } = await send(denied, serviceWithShortLimits);
    expect(responses.map(({ status }) => status)).toEqual([401]);
    expect(closed).toBe(true);
  });

  test('that sends no second request is disconnected without a response', async () => {
    const { responses, rest, closed } = await send(GOOD, serviceWithShortLimits);
    expect({ statuses: responses.map(({ status }) => status), rest, closed }).toEqual({
      statuses: [200],
      rest: '',
      closed: true,
    });
  });

  test('is disconnected after a bad request, even if it continues to send', async () => {
    const socket = await connected(serviceWithShortLimits.port);
    const drip = setInterval(() => socket.write('x'), 50);
    socket.write('garbage\r\n\r\n');
    socket.resume();
    await new Promise((resolve) => socket.once('close', resolve));
    clearInterval(drip);
  });
});
