import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { connected, exchange } from 'test-support/raw-http';
import { listenLocally } from './support.ts';

// Cases of RFC 9110 and RFC 9112. The suites h1spec and Http11Probe have them, too.

/** Answers with the target and the body of the request. */
const app: RequestListener = async (received, response) => {
  begun += 1;
  if (received.headers.expect !== undefined) response.writeContinue();
  const body = await text(received).catch(() => 'an incomplete body');
  response.end(`${received.url} ${body}`);
};

let begun = 0;
let rejected: string[] = [];
let listening: Awaited<ReturnType<typeof listenLocally>>;
let port: number;
beforeAll(async () => {
  listening = await listenLocally(app, {
    onRejected: ({ status }, client) => rejected.push(`${status} ${client}`),
  });
  port = listening.port;
});
afterAll(() => listening.stop());

const HOST = 'Host: a\r\n';
const get = (fields = '', line = 'GET /a HTTP/1.1') => `${line}\r\n${HOST}${fields}\r\n`;
const withTarget = (target: string) => get('', `GET ${target} HTTP/1.1`);
const withVersion = (version: string) => get('', `GET /a ${version}`);
const withHost = (host: string) => `GET /a HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
const post = (fields: string, body = '') => `POST /a HTTP/1.1\r\n${HOST}${fields}\r\n\r\n${body}`;
const withLength = (length: string) => post(`Content-Length: ${length}`, 'hello hello!');
const withCoding = (coding: string) => post(`Transfer-Encoding: ${coding}`, '0\r\n\r\n');
const chunked = (body: string) => post('Transfer-Encoding: chunked', body);
const withHeaders = (count: number) => get('a:\r\n'.repeat(count - 1));

const HOSTS = ['', 'a.example:80', 'a:', '[::1]', '[2001:DB8::A]', '[v1.a]:8080', 'a_b%20c'];

/** Valid messages, by the response of the app. */
const VALID: Readonly<Record<string, readonly string[]>> = {
  '/a ': [
    'GET /a HTTP/1.1\r\nhoSt:\ta\r\nx:\r\n\r\n',
    `\r\n${get()}`,
    get('X:   a   \r\n'),
    get('Connection: unknown\r\n'),
    get('Connection: Upgrade\r\nUpgrade: unknown\r\n'),
    'GET /a HTTP/1.0\r\n\r\n',
    withTarget('http://b/a'),
    withTarget('HTTPS://b:80/a'),
    withTarget('http://[::1]:80/a'),
    withHeaders(199),
    get('X: Authorization\r\nAuthorization: b\r\n'),
    ...[...HOSTS, "a!$&'()*+,;=~-"].map(withHost),
  ],
  '/ ': [withTarget('http://b')],
  '/?c ': [withTarget('http://b?c')],
  '//a@b?c ': [withTarget('//a@b?c')],
  '* ': [get('', 'OPTIONS * HTTP/1.1')],
  '/a hello': [
    post('Content-Length: 5', 'hello'),
    post('Transfer-Encoding: CHUNKED', '5\r\nhello\r\n0\r\n\r\n'),
    chunked('1\r\nh\r\n4\r\nello\r\n0\r\n\r\n'),
    chunked('5;a=b\r\nhello\r\n0\r\nX: a\r\n\r\n'),
    post('Expect: 100-continue\r\nContent-Length: 5', 'hello'),
  ],
  '/a hello hello': [chunked('B\r\nhello hello\r\n0\r\n\r\n')],
};

test.each(Object.entries(VALID))('the app answers %j to valid messages', async (body, messages) => {
  for (const message of messages) {
    const { responses } = await exchange(port, message);
    const answers = responses.map((response) => `${response.status} ${response.body}`);
    expect([message, answers.at(-1)]).toEqual([message, `200 ${body}`]);
  }
});

test('a response to HEAD has no body', async () => {
  const { responses, rest } = await exchange(port, get('', 'HEAD /a HTTP/1.1'), { head: true });
  expect([responses[0]?.status, rest]).toEqual([200, '']);
});

/** Invalid messages, by the status and the message of the response. */
const INVALID: Readonly<Record<string, readonly string[]>> = {
  '400 the request line must begin with a method of HTTP in capitals (RFC 9112 §3.1)': [
    'no request\r\n\r\n',
    ...['GE\x01T', 'get', 'GETT', 'textGET'].map((method) => get('', `${method} / HTTP/1.1`)),
    get('', 'GET\t/ HTTP/1.1'),
  ],
  '400 the version of HTTP must be 1.0 or 1.1 (RFC 9112 §2.3)': [
    ...['HTTP/9.9', 'HTTP/2.0', 'HTTP/1.2', 'HTTP/0.9', 'HTTP/1', 'HTTP/01.1', 'HTTP/ 1.1'].map(
      withVersion,
    ),
    'GET /a HTTP/1.1\nHost: a\r\n\r\n',
  ],
  '400 the request target must be percent-encoded (RFC 9112 §3.2)': [
    ...['/\0', '/\xe4', 'a.example:80', 'a', 'http:/b', 'http://b:c\\/a', 'http://b#c'].map(
      withTarget,
    ),
  ],
  '400 the target must be a path or http://host/path (RFC 9112 §3.2)': [
    ...[
      '*',
      'ftp://b/a',
      'http://',
      'http:///a',
      'http://u@b/a',
      'http://b:c/a',
      'xhttp://b/a',
    ].map(withTarget),
  ],
  '400 the target must not have a fragment (RFC 9112 §3.2)': [
    ...['/a#b', '/a?b#c#d', '/a#/../b', 'http://b/a#c'].map(withTarget),
  ],
  '400 the header host must come once, as host or host:port (RFC 9112 §3.2)': [
    'GET /a HTTP/1.1\r\n\r\n',
    'GET /a HTTP/1.0\r\nHost: a/b\r\n\r\n',
    get('Host: a\r\n'),
    ...['a/b', 'a b', 'a@b', 'a:b', 'a:80:80', '[::1', '[]', '::1', 'a?', 'ä', 'a\\b'].map(
      withHost,
    ),
  ],
  '400 the header authorization must come once': [
    get('authorization: Bearer a\r\nAUTHORIZATION: Bearer a\r\n'),
  ],
  '400 the header content-type must come once': [
    get('Content-Type: text/plain\r\ncontent-type: text/plain\r\n'),
  ],
  '400 a header must be a name, a colon and visible characters (RFC 9112 §5)': [
    ...['X[]: a', 'X : a', 'X\t: a', ': a', 'X', 'X: a\r\n b', 'X: a\x07', 'X: a\0', 'X\0: a'].map(
      (field) => get(`${field}\r\n`),
    ),
    get('\xe4: a\r\n'),
    ...['\x0bchunked', 'chunked\0', '\r\n chunked'].map(withCoding),
    chunked('0\r\nX\r\n\r\n'),
  ],
  '400 Content-Length must be a number, without Transfer-Encoding (RFC 9112 §6)': [
    ...[
      '-1',
      '9'.repeat(27),
      'abc',
      '+5',
      '0x5',
      '5, 6',
      '5, 5',
      '',
      '-0',
      '1 2',
      '5.0',
      '1e1',
    ].map(withLength),
    post('Transfer-Encoding: chunked\r\nContent-Length: 0', '0\r\n\r\n'),
  ],
  '400 Content-Length must come once, without Transfer-Encoding (RFC 9112 §6)': [
    withLength('5\r\nContent-Length: 6'),
  ],
  '400 the transfer coding must be chunked, without Content-Length (RFC 9112 §6.1)': [
    post('Content-Length: 5\r\nTransfer-Encoding: chunked', '0\r\n\r\n'),
    ...['chunked, gzip', 'chunked, chunked', 'chunked\r\nTransfer-Encoding: identity', ''].map(
      withCoding,
    ),
    withCoding('chunked,'),
  ],
  '400 the transfer coding must be chunked only, which needs HTTP/1.1 (RFC 9112 §6.1)': [
    ...['xchunked', 'gzip, chunked', '"chunked"', 'chunked;a=b'].map(withCoding),
    withCoding('chunked').replace('HTTP/1.1', 'HTTP/1.0'),
  ],
  '400 a chunk must begin with its size in hex digits (RFC 9112 §7.1)': [
    ...['g', '-1', '0x1', '1_0', '', '+1', ' 1', '1 ', 'f'.repeat(17)].map((size) =>
      chunked(`${size}\r\nx\r\n0\r\n\r\n`),
    ),
  ],
  '400 the request is not HTTP/1.1 (RFC 9112)': [
    'GET / \r\n\r\n',
    withVersion('http/1.1'),
    withTarget('/a b'),
    'GET / HTTP/1.1\r\n Host: a\r\n\r\n',
    ...['\rX: a', 'X: a\rb', 'X: a\nb'].map((field) => get(`${field}\r\n`)),
    ...['1\r\nxyz', '1\nx\n0\n\n', '1\rx', '1\r\nx\n', '1\r\nx0', '1;a\nx', '1;a=\0\r\nx'].map(
      (start) => chunked(`${start}\r\n0\r\n\r\n`),
    ),
    chunked('0\r\nX: a\n\r\n'),
  ],
  '405 CONNECT is not a method of this service': [get('', 'CONNECT a:443 HTTP/1.1')],
  '417 the header expect must be 100-continue (RFC 9110 §10.1.1)': [get('Expect: tea\r\n')],
  '431 the header section must have at most 16384 bytes and 199 headers': [
    ...[200, 20_000].map(withHeaders),
    get(`a: ${'a'.repeat(60_000)}\r\n`),
    withTarget(`/${'a'.repeat(60_000)}`),
  ],
};

test.each(Object.entries(INVALID))(
  'invalid messages are rejected with %j, and the connection is closed',
  async (outcome, messages) => {
    begun = 0;
    rejected = [];
    // Concurrent, since the server continues to read for a while after a rejection.
    const exchanges = await Promise.all(
      messages.map((message) => exchange(port, message + get(), { responses: 2 })),
    );
    for (const [index, { responses, closed }] of exchanges.entries()) {
      const found = responses.map(({ status, body }) => `${status} ${body}`);
      expect([messages[index], found, closed]).toEqual([messages[index], [outcome], true]);
      expect(responses[0]?.headers).toMatchObject({
        'content-type': 'text/plain; charset=utf-8',
        connection: 'close',
        date: expect.stringMatching(/ GMT$/),
        ...(outcome.startsWith('405') && { allow: '' }),
      });
    }
    // The app begins to handle a message whose body is invalid. The others are reported.
    expect(new Set(rejected)).toEqual(
      new Set(begun < messages.length ? [`${outcome.slice(0, 3)} 127.0.0.1`] : []),
    );
    expect(begun + rejected.length).toBe(messages.length);
  },
);

test('an incomplete message gets no response until it is complete, wherever it is cut', async () => {
  const whole = get();
  const sockets = await Promise.all(Array.from(whole, () => connected(port)));
  const answered = new Set<number>();
  for (const [index, socket] of sockets.entries()) {
    socket.on('data', () => answered.add(index)).on('close', () => answered.add(index));
    socket.write(whole.slice(0, index));
  }
  // When the server responds to later requests, it has read the incomplete ones.
  for (let round = 0; round < 3; round += 1) await exchange(port, whole);
  expect([...answered]).toEqual([]);
  for (const [index, socket] of sockets.entries()) socket.write(whole.slice(index));
  await eventually(() => answered.size === whole.length);
  for (const socket of sockets) socket.destroy();
});
