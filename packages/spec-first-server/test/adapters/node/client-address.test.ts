import { expect, test } from '@jest/globals';
import {
  clientAddress,
  type TrustProxy,
  validAddress,
} from '../../../src/adapters/node/node-call.ts';
import { createRequest } from '../../listener/support.ts';

const requestWith = (...rawHeaders: string[]) =>
  createRequest({ rawHeaders, remoteAddress: '10.0.0.1' }).request;

test('without trustProxy or X-Forwarded-For, the client is that of the connection', () => {
  expect(clientAddress()(requestWith('X-Forwarded-For', '192.0.2.1'))).toBe('10.0.0.1');
  expect(clientAddress(true)(requestWith())).toBe('10.0.0.1');
});

test.each<[TrustProxy, string, string]>([
  [false, '192.0.2.1', '10.0.0.1'],
  [true, '192.0.2.1, 192.0.2.2', '192.0.2.1'],
  [0, '192.0.2.1', '10.0.0.1'],
  [1, '192.0.2.1, 192.0.2.2', '192.0.2.2'],
  [2, '192.0.2.1, 192.0.2.2', '192.0.2.1'],
  [['10.0.0.0/8'], '192.0.2.1, 192.0.2.2', '192.0.2.2'],
  [['10.0.0.1', '192.0.2.2'], '192.0.2.1, 192.0.2.2', '192.0.2.1'],
  [['loopback'], '192.0.2.1', '10.0.0.1'],
  [true, '2001:db8::1', '2001:db8::1'],
  [true, 'a client, 192.0.2.2', '10.0.0.1'],
  [true, '', '10.0.0.1'],
])('with trustProxy %j and X-Forwarded-For "%s" the client is %s', (trustProxy, header, client) => {
  expect(clientAddress(trustProxy)(requestWith('X-Forwarded-For', header))).toBe(client);
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::1', '::1'],
  ['192.0.2.1:80', '10.0.0.1'],
  ['<script>', '10.0.0.1'],
  ['', '10.0.0.1'],
])('for the forwarded address %p, the client is %s', (forwarded, address) => {
  expect(validAddress(forwarded, requestWith())).toBe(address);
});
