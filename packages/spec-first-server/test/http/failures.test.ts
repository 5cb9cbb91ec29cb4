import { describe, expect, test } from '@jest/globals';
import { MAX_HEADERS, requestFailure } from '../../src/http/failures.ts';
import { createRequest } from '../listener/support.ts';

const messageOf = (parts: Parameters<typeof createRequest>[0]): string | undefined =>
  requestFailure(createRequest(parts).request)?.message;

const VERSION = 'the version of HTTP must be 1.0 or 1.1 (RFC 9112 §2.3)';
const HOST = 'the header host must come once, as host or host:port (RFC 9112 §3.2)';
const TARGET = 'the target must be a path or http://host/path (RFC 9112 §3.2)';
const CODING = 'the transfer coding must be chunked only, which needs HTTP/1.1 (RFC 9112 §6.1)';

test.each(['1.1', '1.0'])('the version %s is valid', (httpVersion) => {
  expect(messageOf({ httpVersion })).toBeUndefined();
});

test.each(['2.0', '0.9', '1.2'])('the version %s is rejected', (httpVersion) => {
  expect(messageOf({ httpVersion })).toBe(VERSION);
});

describe('the header host', () => {
  test.each([
    '',
    'a',
    'a.example:80',
    'a:',
    '127.0.0.1',
    '[::1]',
    '[2001:DB8::A]',
    '[v1.a]:8080',
    'a_b%20c',
    "a!$&'()*+,;=~-",
  ])('may be "%s"', (host) => {
    expect(messageOf({ rawHeaders: ['Host', host] })).toBeUndefined();
  });

  test.each(['a/b', 'a b', 'a@b', 'a:b', 'a:80:80', '[::1', '[]', '::1', 'a?', 'ä', 'a\\b'])(
    'must not be "%s"',
    (host) => {
      expect(messageOf({ rawHeaders: ['Host', host] })).toBe(HOST);
    },
  );

  test('must come once', () => {
    const rawHeaders = ['Host', 'a', 'host', 'a'];
    expect(messageOf({ rawHeaders })).toBe(HOST);
    const { request } = createRequest({ rawHeaders });
    // Node's default: only the first one is in `headers`.
    request.headers.host = 'a';
    expect(requestFailure(request)?.message).toBe(HOST);
  });

  test('is required in HTTP/1.1 only', () => {
    expect(messageOf({ rawHeaders: [] })).toBe(HOST);
    expect(messageOf({ rawHeaders: [], httpVersion: '1.0' })).toBeUndefined();
    expect(messageOf({ rawHeaders: ['Host', 'a/b'], httpVersion: '1.0' })).toBe(HOST);
  });
});

describe('the target', () => {
  test.each([
    ['/', '/'],
    ['/a?b=c', '/a?b=c'],
    ['//a@b', '//a@b'],
    ['http://b/a?c', '/a?c'],
    ['HTTPS://b:80/a', '/a'],
    ['http://b', '/'],
    ['http://b?c', '/?c'],
    ['http://[::1]:80/a', '/a'],
  ])('%j becomes %j', (url, path) => {
    const { request } = createRequest({ url });
    expect(requestFailure(request)).toBeUndefined();
    expect(request.url).toBe(path);
  });

  test.each([
    '',
    'a',
    '*',
    'ftp://b/a',
    'http:/b',
    'http://',
    'http:///a',
    'http://u@b/a',
    'http://b:c/a',
    'xhttp://b/a',
  ])('%j is rejected', (url) => {
    expect(messageOf({ url })).toBe(TARGET);
  });

  test.each(['/a#b', '/a?b#c#d', '/a#/../b', '#', 'http://b#c', 'http://b/a#c'])(
    '%j is rejected for its fragment',
    (url) => {
      expect(messageOf({ url })).toBe('the target must not have a fragment (RFC 9112 §3.2)');
    },
  );

  test('* is for OPTIONS only', () => {
    const { request } = createRequest({ url: '*', method: 'OPTIONS' });
    expect(requestFailure(request)).toBeUndefined();
    expect(request.url).toBe('*');
    expect(messageOf({ url: '/*', method: 'OPTIONS' })).toBeUndefined();
  });
});

test.each([
  [['Authorization', 'Bearer a']],
  [['Authorization', 'Bearer a', 'X', 'Authorization']],
  [['Content-Type', 'text/plain']],
])('the headers %j are valid', (rawHeaders) => {
  expect(messageOf({ rawHeaders: ['Host', 'a', ...rawHeaders] })).toBeUndefined();
});

test.each([
  [
    ['authorization', 'Bearer a', 'AUTHORIZATION', 'Bearer a'],
    'the header authorization must come once',
  ],
  [
    ['Content-Type', 'text/plain', 'content-type', 'text/plain'],
    'the header content-type must come once',
  ],
])('the fault of the headers %j is: %s', (rawHeaders, message) => {
  expect(messageOf({ rawHeaders: ['Host', 'a', ...rawHeaders] })).toBe(message);
});

test.each(['chunked', 'CHUNKED'])('in HTTP/1.1 the transfer coding "%s" is valid', (coding) => {
  expect(messageOf({ rawHeaders: ['Host', 'a', 'Transfer-Encoding', coding] })).toBeUndefined();
});

test.each([
  ['1.1', 'gzip, chunked'],
  ['1.1', 'identity'],
  ['1.1', ''],
  ['1.0', 'chunked'],
])('in HTTP/%s the transfer coding "%s" is rejected', (httpVersion, coding) => {
  expect(messageOf({ httpVersion, rawHeaders: ['Host', 'a', 'Transfer-Encoding', coding] })).toBe(
    CODING,
  );
});

test('a request has at most 199 headers, one less than Node reads', () => {
  const withHeaders = (count: number) => [
    ...['Host', 'a'],
    ...Array.from({ length: 2 * (count - 1) }, () => 'x'),
  ];
  expect(MAX_HEADERS).toBe(200);
  expect(messageOf({ rawHeaders: withHeaders(199) })).toBeUndefined();
  const fault = requestFailure(createRequest({ rawHeaders: withHeaders(200) }).request);
  expect(fault).toMatchObject({
    status: 431,
    message: 'the header section must have at most 16384 bytes and 199 headers',
  });
});
