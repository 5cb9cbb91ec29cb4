import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createWebhooks } from 'spec-first-server/webhooks';

const folder = mkdtempSync(join(tmpdir(), 'webhooks-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'openapi.yaml');
writeFileSync(
  file,
  `openapi: 3.1.0
info: { title: Rooms, version: '1' }
webhooks:
  roomAdded:
    post:
      parameters: [{ name: webhook-signature, in: header, required: true, schema: { type: string } }]
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Room' } } } }
      responses: { '204': { description: Seen. }, 4XX: { description: Refused. } }
paths:
  /watchers:
    post:
      operationId: watch
      responses: { '204': { description: Watched. } }
      callbacks:
        changed:
          '{$request.body#/url}':
            post:
              parameters: [{ name: kind, in: query, required: true, schema: { enum: [new, gone] } }]
              responses: { '200': { description: Seen., content: { application/json: { schema: { type: integer } } } } }
components:
  schemas:
    Room:
      type: object
      required: [id, name]
      properties:
        id: { type: integer, format: int64, readOnly: true }
        name: { type: string, minLength: 1 }
        key: { type: string, writeOnly: true }
`,
);

/** As `generate` types it. */
type Reply<Status extends number, Content> = { [Key in Status]: { content: { 'application/json': Content } } };
interface Webhooks {
  roomAdded: {
    post: {
      requestBody: { content: { 'application/json': { id: number | bigint; name: string } } };
      responses: { 204: { content?: never } };
    };
  };
  'watch.changed': { post: { parameters: { query: { kind: 'new' | 'gone' } }; responses: Reply<200, number> } };
}

let server: Server;
let url: string;
interface Seen {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}
let last: Seen | undefined;
beforeAll(async () => {
  server = createServer(async (request, response) => {
    last = { url: request.url, headers: request.headers, text: (await Array.fromAsync(request)).join('') };
    if (request.url?.startsWith('/changed')) response.setHeader('Content-Type', 'application/json').end('7');
    else response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});
const receiverAt = async (path: string, options = {}) =>
  (await createWebhooks<Webhooks>({ document: file }))(url + path, options);

test('a webhook is sent with exact integers, and signed where the document declares the signature', async () => {
  const key = Buffer.from('a key of the receiver');
  const options = { secret: `whsec_${key.toString('base64')}`, headers: { Authorization: 'Bearer a' }, id: 'msg_1' };
  const receiver = await receiverAt('/hook/?a=1', options);
  expect((await receiver.roomAdded({ body: { id: 9007199254740993n, name: 'Garden' } })).status).toBe(204);
  const { headers, text }: Pick<Seen, 'headers' | 'text'> = last ?? { headers: {}, text: '' };
  expect([last?.url, text]).toEqual(['/hook/?a=1', '{"id":9007199254740993,"name":"Garden"}']);
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    authorization: 'Bearer a',
    'webhook-id': 'msg_1',
  });
  const signed = createHmac('sha256', key).update(`msg_1.${headers['webhook-timestamp']}.${text}`).digest('base64');
  expect(headers['webhook-signature']).toBe(`v1,${signed}`);
  expect(Math.abs(Date.now() / 1000 - Number(headers['webhook-timestamp']))).toBeLessThan(60);
});

test('what does not fit the document is not sent', async () => {
  last = undefined;
  const receiver = await receiverAt('/hook', { secret: 'whsec_YQ==' });
  await expect(receiver.roomAdded({ body: { id: 1, name: '' } })).rejects.toThrow(
    /^roomAdded is not sent: \/body\/name /,
  );
  const body = { id: 1, name: 'a', key: 'secret' };
  await expect(receiver.roomAdded({ body })).rejects.toThrow('/body/key must not be present');
  await expect((await receiverAt('/hook')).roomAdded({ body: { id: 1, name: 'a' } })).rejects.toThrow(
    'give the secret',
  );
  expect(last).toBeUndefined();
});

test('a callback of an operation is sent by the name of both, and its reply is read', async () => {
  const receiver = await receiverAt('/changed');
  const { status, body } = await receiver['watch.changed']({ query: { kind: 'new' } });
  expect([status, body, last?.url]).toEqual([200, 7, '/changed?kind=new']);
  // @ts-expect-error another value of the query
  await expect(receiver['watch.changed']({ query: { kind: 'other' } })).rejects.toThrow('watch.changed is not sent');
});
