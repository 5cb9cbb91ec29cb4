import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkDocument } from 'openapi-document';
import { serve, withFiles } from 'test-support/documents';

const operation = (members: string) => `openapi: 3.1.0
info: { title: A, version: 1.0.0 }
paths:
  /a:
    get:
      operationId: a
      parameters: [{ name: q, in: query, schema: { type: integer } }]
      responses: { '204': { description: done } }
      ${members}
`;

const served = (members: string) =>
  withFiles({ 'openapi.yaml': operation(members) }, (folder) =>
    serve(join(folder, 'openapi.yaml'), { a: () => ({ status: 204 }) }),
  );

test('each response to a deprecated operation says since when, and when it ends', async () => {
  const { client } = await served(
    'deprecated: true\n      x-deprecated-at: 2026-01-01\n      x-sunset: 2027-01-31T12:00:00+01:00',
  );
  for (const [target, status] of [
    ['/a', 204],
    ['/a?q=b', 400],
  ] as const) {
    const response = await client.get(target).expect(status);
    expect([response.headers.deprecation, response.headers.sunset]).toEqual([
      '@1767225600',
      'Sun, 31 Jan 2027 11:00:00 GMT',
    ]);
  }
});

test.each([
  [
    'an unknown date',
    'deprecated: true\n      x-sunset: 2027-02-30',
    /x-sunset is ignored: it must be a date/,
  ],
  [
    'a form of the header',
    'deprecated: true\n      x-deprecated-at: "@1767225600"',
    /x-deprecated-at is ignored: it must be a date/,
  ],
  [
    'an operation that is not deprecated',
    'x-sunset: 2027-01-31',
    /x-sunset is ignored: it needs deprecated: true/,
  ],
])('%s is a finding, and no header', async (_title, members, finding) => {
  const { client, document } = await served(members);
  const { notices } = checkDocument(document);
  expect(notices.map(({ message }) => message).join()).toMatch(finding);
  const { headers } = await client.get('/a').expect(204);
  expect([headers.deprecation, headers.sunset]).toEqual([undefined, undefined]);
});
