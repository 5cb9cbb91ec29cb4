import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { echo, withFiles } from 'test-support/documents';
import { exchange, request } from 'test-support/raw-http';
import type { Listening } from '../../src/listener/listen.ts';
import { createAppService, createListener } from '../../src/serve/app.ts';
import { listenLocally } from '../listener/support.ts';

const OK = "{ '200': { description: ok, content: { application/json: {} } } }";
const BODY =
  '{ required: true, content: { application/json: { schema: { type: object, required: [text] } } } }';
const DOCUMENT = `openapi: 3.2.0
info: { title: A, version: 1.0.0 }
paths:
  /things:
    get: { operationId: list, responses: ${OK} }
    query: { operationId: search, requestBody: ${BODY}, responses: ${OK} }
    additionalOperations:
      COPY: { operationId: copy, responses: ${OK} }
      FROB: { operationId: frob, responses: ${OK} }
`;

const lines: Record<string, unknown>[] = [];
let listening: Listening;
let port: number;
const send = async (line: string, headers: Record<string, string> = {}, body = '') =>
  (await exchange(port, request(line, headers, body))).responses[0];

beforeAll(async () => {
  const service = await withFiles({ 'openapi.yaml': DOCUMENT }, (folder) =>
    createAppService({
      document: join(folder, 'openapi.yaml'),
      log: pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
      handlers: { list: echo, search: echo, copy: echo, frob: echo },
      corsOrigins: ['https://app.example'],
    }),
  );
  listening = await listenLocally(await createListener(service, {}));
  port = Number(new URL(listening.url).port);
});
afterAll(() => listening.stop());

describe('an operation of OpenAPI 3.2', () => {
  const JSON_BODY = { 'Content-Type': 'application/json' };

  test('for QUERY gets its body, which is validated', async () => {
    const answer = await send('QUERY /things', JSON_BODY, '{"text":"a"}');
    expect(answer?.status).toBe(200);
    expect(JSON.parse(String(answer?.body))).toMatchObject({ body: { text: 'a' } });
    expect((await send('QUERY /things', JSON_BODY, '{}'))?.status).toBe(400);
    expect((await send('QUERY /things'))?.status).toBe(400);
  });

  test('with an additional method is served, if Node parses the method', async () => {
    expect((await send('COPY /things'))?.status).toBe(200);
    expect((await send('FROB /things'))?.status).toBe(400);
    expect(lines.map(({ msg }) => msg)).toContain(
      'FROB /things cannot be served: the server cannot read FROB',
    );
  });

  test('that is served is in Allow, and in the answer to a preflight', async () => {
    expect((await send('DELETE /things'))?.headers.allow).toBe('GET, QUERY, COPY, HEAD');
    const preflight = await send('OPTIONS /things', {
      Origin: 'https://app.example',
      'Access-Control-Request-Method': 'QUERY',
    });
    expect(preflight?.headers['access-control-allow-methods']).toBe('GET,QUERY,COPY');
  });
});
