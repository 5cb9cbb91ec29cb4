import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { documentFile, echo, serve } from 'test-support/documents';
import type { AnyHandler } from '../src/core/handlers/types.ts';

type Served = Awaited<ReturnType<typeof serve>>;

const output = [jest.spyOn(console, 'warn'), jest.spyOn(console, 'error')];
afterEach(() => {
  for (const written of output) expect(written).not.toHaveBeenCalled();
});

async function raw(server: Server, bytes: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.end(bytes);
  return text(socket);
}

async function listening({ app }: Served): Promise<Server> {
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe('a required body', () => {
  test.each([
    ['no body', ''],
    ['a media type, but no body', 'Content-Type: application/json\r\n'],
    ['a length of 0', 'Content-Type: application/json\r\nContent-Length: 0\r\n'],
    [
      'a chunked body without chunks',
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n',
    ],
    ['a chunked body without chunks and media type', 'Transfer-Encoding: chunked\r\n'],
  ])('is missing in a request with %s', async (_title, headers) => {
    const called = jest.fn<AnyHandler>(echo);
    const served = await serve(documentFile('schemas.yaml'), { pet: called }, { missing: 'mock' });
    const server = await listening(served);
    const end = headers.includes('chunked') ? '0\r\n\r\n' : '';
    const answer = await raw(
      server,
      `POST /pets HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n${end}`,
    );
    server.close();
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('/body is required, as application/json');
    expect(called).not.toHaveBeenCalled();
  });
});

describe('headers', () => {
  /** The headers for browsers that helmet sets. */
  const BROWSER_HEADERS =
    /^(content-security-policy|cross-origin-|origin-agent|referrer|strict-transport|x-(?!request-id$))/;

  let client: Awaited<ReturnType<typeof serve>>['client'];
  beforeAll(async () => {
    const ids = ['secured', 'open', 'optional', 'either', 'both', 'scoped', 'graded', 'body'];
    ({ client } = await serve(
      documentFile('security.yaml'),
      Object.fromEntries(ids.map((id) => [id, echo])),
    ));
  });

  test.each([
    [200, 'get', '/open'],
    [401, 'get', '/secured'],
    [404, 'get', '/nowhere'],
    [405, 'delete', '/open'],
    [200, 'get', '/healthz'],
    [200, 'get', '/openapi.json'],
    [200, 'get', '/docs/page.css'],
  ] as const)(
    '%i to %s %s has the security headers of an API, and no others',
    async (status, method, path) => {
      const { headers } = await client[method](path).expect(status);
      expect(
        Object.fromEntries(Object.entries(headers).filter(([name]) => BROWSER_HEADERS.test(name))),
      ).toEqual({
        'content-security-policy': "default-src 'none';frame-ancestors 'none'",
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'SAMEORIGIN',
      });
    },
  );
});
