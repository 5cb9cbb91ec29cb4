import { readFileSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { eventually } from 'test-support/eventually';
import { end, makeProject, type Running, start } from 'test-support/project';
import type { RunningService } from '../../src/serve/start-service.ts';
import { STOP_LIMIT, stopper } from '../../src/serve/stop.ts';

const DOCUMENT = `openapi: 3.2.0
info: { title: A, version: 1.0.0 }
paths:
  /slow:
    get:
      operationId: slow
      security: [{ ours: [] }]
      responses:
        '200': { description: ok, content: { application/json: { schema: { type: object } } } }
  /events:
    get:
      operationId: watch
      responses:
        '200':
          description: Events without an end.
          content:
            text/event-stream: { itemSchema: { type: object, properties: { data: { type: string } } } }
components:
  securitySchemes: { ours: { type: http, scheme: digest } }
`;

/** A service whose backend writes its calls to the file `record`. */
const MAIN = `
import { appendFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { serve } from 'spec-first-server';
const record = (line) => appendFileSync('record', line + '\\n');
await serve({
  variables: { GREETING: { default: 'hello', description: 'a text', parse: String } },
  open({ GREETING }) {
    record('opened');
    return {
      location: 'a record',
      use: [(request, response, next) => { response.setHeader('X-Greeting', GREETING); next(); }],
      around: async (operation, { caller }, next) => {
        record(\`\${operation} of \${caller?.subject}\`);
        return next();
      },
      verifiers: { ours: ({ headers }) => ({ subject: headers.authorization, scopes: [] }) },
      handlers: {
        async slow({ caller }) {
          record('slow request');
          await setTimeout(500);
          record('slow answer');
          return { status: 200, body: { caller: caller.subject } };
        },
        watch: () => ({ status: 200, body: (async function* () {
          try {
            for (;;) { yield { data: 'now' }; await setTimeout(20); }
          } finally {
            record('stream ended');
          }
        })() }),
      },
      async close() {
        await setTimeout(50);
        record('closed');
        if (GREETING === 'fails to close') throw new Error('a fault of the backend');
      },
    };
  },
});
`;

const folder = makeProject({ 'openapi.yaml': DOCUMENT, 'main.mjs': MAIN });
let running: Running | undefined;
afterEach(() => running && end(running));
afterAll(() => rmSync(folder, { recursive: true }));

const record = () => readFileSync(join(folder, 'record'), 'utf8').trim().split('\n');

async function launch(env: Readonly<Record<string, string>>): Promise<string> {
  running = start(folder, ['main.mjs'], env);
  return (await running.waitForOutput(/"url":"([^"]+)"/))[1] ?? '';
}

test('a stop finishes requests, ends event streams, closes the backend, and ends with 0, in this order', async () => {
  rmSync(join(folder, 'record'), { force: true });
  const url = await launch({ ACCESS_TOKENS: 'token', GREETING: 'hi', DRAIN_SECONDS: '1' });
  const stream = await new Promise<NodeJS.ReadableStream>((resolve) => {
    get(`${url}/events`, resolve);
  });
  const events = text(stream);
  const slow = fetch(`${url}/slow`, { headers: { Authorization: 'Digest ann' } });
  await eventually(() => record().includes('slow request'));
  running?.child.kill('SIGTERM');

  const answer = await slow;
  expect([answer.status, answer.headers.get('X-Greeting')]).toEqual([200, 'hi']);
  expect(await answer.json()).toEqual({ caller: 'Digest ann' });
  // A closed connection would reject.
  expect(await events).toMatch(/^(data: now\n\n)+/);
  expect(await running?.exit).toBe(0);
  expect(record()).toEqual([
    'opened',
    'watch of undefined',
    'slow of Digest ann',
    'slow request',
    // Event streams continue for DRAIN_SECONDS.
    'slow answer',
    'stream ended',
    'closed',
  ]);
});

test('a stop whose backend fails to close ends with 1, and logs the reason', async () => {
  await launch({ ACCESS_TOKENS: 'token', GREETING: 'fails to close' });
  running?.child.kill('SIGTERM');
  expect(await running?.exit).toBe(1);
  expect(running?.output()).toMatch(/a fault of the backend.*"msg":"the stop failed"/);
  expect(running?.output()).not.toContain('"msg":"stopped"');
});

test('a stop is aborted at STOP_LIMIT after DRAIN_SECONDS, not before', async () => {
  const levels: number[] = [];
  const log = pino({}, { write: (line) => levels.push(JSON.parse(line).level) });
  const exit = jest.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const endless = { stop: () => new Promise(() => {}) } as unknown as RunningService;
  jest.useFakeTimers();
  void stopper(endless, log, 30)('SIGTERM');
  jest.advanceTimersByTime(30_000 + STOP_LIMIT - 1);
  const before = [...levels];
  jest.advanceTimersByTime(1);
  jest.useRealTimers();
  await eventually(() => exit.mock.calls.length > 0);
  expect(exit).toHaveBeenCalledWith(1);
  exit.mockRestore();
  expect([before, levels]).toEqual([[30], [30, 60]]);
});
