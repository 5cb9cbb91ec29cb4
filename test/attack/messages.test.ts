import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { connected, exchange } from 'test-support/raw-http';
import { endAll, launch } from '../support/launch.ts';

let port: number;
beforeAll(async () => {
  port = Number(new URL(await launch({ ACCESS_TOKENS: 'token' }).url).port);
});
afterAll(endAll);

const HOST = 'Host: example.com\r\n';
const get = (fields = '', line = 'GET /healthz HTTP/1.1'): string =>
  `${line}\r\n${HOST}${fields}\r\n`;
const post = (fields: string, body = ''): string =>
  `POST /plants HTTP/1.1\r\n${HOST}Authorization: Bearer token\r\nContent-Type: application/json\r\n${fields}\r\n${body}`;
const chunked = (body: string): string => post('Transfer-Encoding: chunked\r\n', body);
const PLANT = '{"id":1,"name":"Fern"}';

describe('an incomplete request gets no response until it is complete', () => {
  const whole = get();
  test('wherever it is cut', async () => {
    const cuts = [
      1,
      4,
      12,
      13,
      17,
      21,
      22,
      23,
      26,
      28,
      29,
      whole.length - 3,
      whole.length - 2,
      whole.length - 1,
    ];
    const sockets = await Promise.all(cuts.map(() => connected(port)));
    const answered = new Set<number>();
    for (const [index, socket] of sockets.entries()) {
      socket.on('data', () => answered.add(index)).on('close', () => answered.add(index));
      socket.write(whole.slice(0, cuts[index]));
    }
    // When the service responds to later requests, it has read the incomplete ones.
    for (let round = 0; round < 3; round += 1) await exchange(port, whole);
    expect([...answered]).toEqual([]);
    for (const [index, socket] of sockets.entries()) socket.write(whole.slice(cuts[index]));
    await eventually(() => answered.size === cuts.length);
    for (const socket of sockets) socket.destroy();
  });
});

// Cases of RFC 9110 and RFC 9112. The suites h1spec and Http11Probe have them, too.
describe('a valid message gets a response', () => {
  test.each([
    ['a plain GET', get(), 200],
    [
      'a field name in any case, a tab before its value, and an empty value',
      'GET /healthz HTTP/1.1\r\nhoSt:\ta\r\nx:\r\n\r\n',
      200,
    ],
    ['an empty line before the request line (RFC 9112 §2.2)', `\r\n${get()}`, 200],
    ['spaces around a value (§5.1)', get('X:   a   \r\n'), 200],
    ['an absolute target (§3.2.2)', get('', 'GET http://example.com/healthz HTTP/1.1'), 200],
    ['a body with a length', post(`Content-Length: ${PLANT.length}\r\n`, PLANT), 200],
    ['a body in chunks', chunked(`${PLANT.length.toString(16)}\r\n${PLANT}\r\n0\r\n\r\n`), 200],
    ['an extension of a chunk (§7.1.1)', chunked(`16;a=b\r\n${PLANT}\r\n0\r\n\r\n`), 200],
    ['a trailer field (§7.1.2)', chunked(`16\r\n${PLANT}\r\n0\r\nX: a\r\n\r\n`), 200],
    [
      'a chunk size in upper case',
      chunked(`1E\r\n{"id":1,"name":"Fern oh Fern"}\r\n0\r\n\r\n`),
      200,
    ],
    ['many chunks', chunked(`1\r\n{\r\n15\r\n${PLANT.slice(1)}\r\n0\r\n\r\n`), 200],
    [
      'a name of a coding in any case',
      post('Transfer-Encoding: CHUNKED\r\n', `16\r\n${PLANT}\r\n0\r\n\r\n`),
      200,
    ],
    ['an unknown value of Connection', get('Connection: unknown\r\n'), 200],
    [
      'an upgrade to an unknown protocol (RFC 9110 §7.8)',
      get('Connection: Upgrade\r\nUpgrade: unknown\r\n'),
      200,
    ],
    ['HTTP/1.0 without Host', 'GET /healthz HTTP/1.0\r\n\r\n', 200],
    ['an expectation that cannot be met (RFC 9110 §10.1.1)', get('Expect: else\r\n'), 417],
    ['a target of 8,000 characters', get('', `GET /${'a'.repeat(7_999)} HTTP/1.1`), 404],
    ['HEAD', get('', 'HEAD /healthz HTTP/1.1'), 200],
    ['OPTIONS * (RFC 9110 §9.3.7)', get('', 'OPTIONS * HTTP/1.1'), 204],
    [
      'a body with Expect: 100-continue',
      post(`Expect: 100-continue\r\nContent-Length: ${PLANT.length}\r\n`, PLANT),
      100,
    ],
  ])('%s', async (_title, bytes, status) => {
    const { responses } = await exchange(port, bytes, { head: bytes.startsWith('HEAD') });
    expect(responses[0]?.status).toBe(status);
  });
});

test('an invalid or ambiguous message is rejected, and the connection is closed', async () => {
  const messages: readonly (readonly [title: string, bytes: string])[] = [
    ['no version', 'GET / \r\n\r\n'],
    ['an unknown version', get('', 'GET / HTTP/9.9')],
    ['a version in lower case', get('', 'GET / http/1.1')],
    ['text before the method', get('', 'Extra lineGET / HTTP/1.1')],
    ['no Host (RFC 9112 §3.2)', 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['two Hosts', get('Host: example.org\r\n')],
    ['a name with brackets', get('X-Invalid[]: a\r\n')],
    ['a space before the colon (§5.1)', get('X : a\r\n')],
    ['no name', get(': a\r\n')],
    ['no colon', get('X\r\n')],
    ['a folded line (§5.2)', get('X: a\r\n b\r\n')],
    ['a control character in a value', get('X: a\x07\r\n')],
    ['a NUL in a value', get('X: a\0\r\n')],
    ['a NUL in the target', get('', 'GET /\0 HTTP/1.1')],
    ['a bare CR between fields', `GET / HTTP/1.1\r\n${HOST}\rX: a\r\n\r\n`],
    ['a bare LF as the end of a line', `GET / HTTP/1.1\n${HOST}\r\n`],
    ['a negative length', post('Content-Length: -1\r\n')],
    ['a length above 2^53', post('Content-Length: 123456789123456789123456789\r\n')],
    ['a length that is no number', post('Content-Length: abc\r\n')],
    ['a length with a plus', post('Content-Length: +5\r\n', 'hello')],
    ['a length in hexadecimal', post('Content-Length: 0x5\r\n', 'hello')],
    ['two lengths', post('Content-Length: 5\r\nContent-Length: 6\r\n', 'hello')],
    ['a list of two lengths', post('Content-Length: 5, 6\r\n', 'hello')],
    [
      'a length and chunks (§6.3)',
      post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
    ],
    [
      'chunks that are not the last coding',
      post('Transfer-Encoding: chunked, gzip\r\n', '0\r\n\r\n'),
    ],
    ['chunks twice', post('Transfer-Encoding: chunked, chunked\r\n', '0\r\n\r\n')],
    ['an unknown coding', post('Transfer-Encoding: xchunked\r\n', '0\r\n\r\n')],
    ['a coding after a control character', post('Transfer-Encoding: \x0bchunked\r\n', '0\r\n\r\n')],
    ['a chunk with a size that is no number', chunked('g\r\nx\r\n0\r\n\r\n')],
    ['a chunk with a negative size', chunked('-1\r\nx\r\n0\r\n\r\n')],
    ['a chunk with 0x before its size', chunked('0x1\r\nx\r\n0\r\n\r\n')],
    ['a chunk with an underscore in its size', chunked('1_0\r\nx\r\n0\r\n\r\n')],
    ['a chunk size above 2^53', chunked('fffffffffffffffff\r\nx\r\n')],
    ['a chunk that is longer than its size', chunked('1\r\nxyz\r\n0\r\n\r\n')],
    ['a chunk that ends with a bare LF', chunked('1\nx\n0\n\n')],
    ['a version without its second number', get('', 'GET / HTTP/1')],
    ['a version with a zero before it', get('', 'GET / HTTP/01.1')],
    ['a space in the version', get('', 'GET / HTTP/ 1.1')],
    ['a tab in the request line', get('', 'GET\t/ HTTP/1.1')],
    ['a space in the target', get('', 'GET /a b HTTP/1.1')],
    ['bytes beyond ASCII in the target', get('', 'GET /\xe4 HTTP/1.1')],
    ['a star with GET (§3.2.4)', get('', 'GET * HTTP/1.1')],
    ['a host and port as the target of GET (§3.2.3)', get('', 'GET example.com:80 HTTP/1.1')],
    ['a target of another scheme', get('', 'GET ftp://example.com/ HTTP/1.1')],
    ['a Host with a user', 'GET / HTTP/1.1\r\nHost: user@example.com\r\n\r\n'],
    ['a Host with a path', 'GET / HTTP/1.1\r\nHost: example.com/path\r\n\r\n'],
    ['a space before the first field (§2.2)', 'GET / HTTP/1.1\r\n Host: example.com\r\n\r\n'],
    ['a NUL in a name', get('X\0: a\r\n')],
    ['a name beyond ASCII', get('\xe4: a\r\n')],
    ['a tab before the colon', get('X\t: a\r\n')],
    ['a bare CR in a value', get('X: a\rb\r\n')],
    ['a bare LF in a value', get('X: a\nb\r\n')],
    ['an empty Content-Length', post('Content-Length: \r\n')],
    ['a length of minus zero', post('Content-Length: -0\r\n')],
    ['a length with a space in it', post('Content-Length: 1 2\r\n', 'hello hello!')],
    ['a length with a fraction', post('Content-Length: 5.0\r\n', 'hello')],
    ['a length with an exponent', post('Content-Length: 1e1\r\n', 'hello hell')],
    ['the same length twice in one field', post('Content-Length: 5, 5\r\n', 'hello')],
    [
      'codings in two fields',
      post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n', '0\r\n\r\n'),
    ],
    ['a coding with a parameter', post('Transfer-Encoding: chunked;a=b\r\n', '0\r\n\r\n')],
    ['a coding in quotes', post('Transfer-Encoding: "chunked"\r\n', '0\r\n\r\n')],
    ['a coding before chunks', post('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n')],
    ['an empty Transfer-Encoding', post('Transfer-Encoding: \r\n', '0\r\n\r\n')],
    ['a coding with a comma after it', post('Transfer-Encoding: chunked,\r\n', '0\r\n\r\n')],
    ['a coding with NUL', post('Transfer-Encoding: chunked\0\r\n', '0\r\n\r\n')],
    ['a folded coding', post('Transfer-Encoding:\r\n chunked\r\n', '0\r\n\r\n')],
    [
      'chunks and a length of 0',
      post('Transfer-Encoding: chunked\r\nContent-Length: 0\r\n', '0\r\n\r\n'),
    ],
    ['a chunk without its size', chunked('\r\nx\r\n0\r\n\r\n')],
    ['a chunk with a plus before its size', chunked('+1\r\nx\r\n0\r\n\r\n')],
    ['a chunk with a space before its size', chunked(' 1\r\nx\r\n0\r\n\r\n')],
    ['a chunk with a space after its size', chunked('1 \r\nx\r\n0\r\n\r\n')],
    ['a chunk with a bare CR after its size', chunked('1\rx\r\n0\r\n\r\n')],
    ['a chunk with a bare LF after its data', chunked('1\r\nx\n0\r\n\r\n')],
    ['a chunk without CRLF after its data', chunked('1\r\nx0\r\n\r\n')],
    ['an extension with a bare LF', chunked('1;a\nx\r\n0\r\n\r\n')],
    ['an extension with NUL', chunked('1;a=\0\r\nx\r\n0\r\n\r\n')],
    ['a trailer field without a colon', chunked('0\r\nX\r\n\r\n')],
    ['a trailer field with a bare LF', chunked('0\r\nX: a\n\r\n')],
    ['a method with a control character', get('', 'GE\x01T / HTTP/1.1')],
    ['a method in lower case', get('', 'get / HTTP/1.1')],
    ['an unknown method', get('', 'GETT / HTTP/1.1')],
    ['CONNECT', get('', 'CONNECT example.com:443 HTTP/1.1')],
    [
      'chunks in HTTP/1.0',
      post('Transfer-Encoding: chunked\r\n', '0\r\n\r\n').replace('HTTP/1.1', 'HTTP/1.0'),
    ],
  ];
  // Concurrent, since the server continues to read for a while after a rejection.
  const outcomes = await Promise.all(
    messages.map(async ([title, bytes]) => {
      const { responses, closed } = await exchange(port, bytes + get(), { responses: 2 });
      const [only, ...others] = responses.map(({ status }) => status);
      return [
        title,
        closed && others.length === 0 && only !== undefined && only >= 400
          ? 'rejected'
          : { only, others, closed },
      ];
    }),
  );
  expect(Object.fromEntries(outcomes)).toEqual(
    Object.fromEntries(messages.map(([title]) => [title, 'rejected'])),
  );
});
