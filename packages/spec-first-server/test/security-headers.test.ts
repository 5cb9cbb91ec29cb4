import { beforeAll, expect, test } from '@jest/globals';
import { documentFile, echo, serve } from '../../../test/support/documents.ts';

/** Of the headers that concern browsers, those that helmet knows. */
const KNOWN = /^(content-security-policy|cross-origin-|origin-agent|referrer|strict-transport|x-(?!request-id$))/;

let client: Awaited<ReturnType<typeof serve>>['client'];
beforeAll(async () => {
  const ids = ['secured', 'open', 'optional', 'either', 'both', 'scoped', 'graded', 'body'];
  ({ client } = await serve(documentFile('security.yaml'), Object.fromEntries(ids.map((id) => [id, echo]))));
});

test.each([
  [200, 'get', '/open'],
  [401, 'get', '/secured'],
  [404, 'get', '/nowhere'],
  [405, 'delete', '/open'],
  [200, 'get', '/healthz'],
  [200, 'get', '/openapi.json'],
  [200, 'get', '/docs/page.css'],
] as const)('%i to %s %s has the security headers of an API, and no others', async (status, method, path) => {
  const { headers } = await client[method](path).expect(status);
  expect(Object.fromEntries(Object.entries(headers).filter(([name]) => KNOWN.test(name)))).toEqual({
    'content-security-policy': "default-src 'none';frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
  });
});
