/** Streams of events: this service beside Express, where the same bytes are written by hand. Each runs in its own process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import express from 'express';
import { createApp } from 'spec-first-server';

const OPEN = 1_000;
const plant = { id: 1, name: 'Monstera deliciosa', tag: 'tropical' };
const EVENT = `id: 1\ndata: ${JSON.stringify(plant)}\n\n`;

const properties = { id: { type: 'integer', format: 'int64' }, name: { type: 'string' }, tag: { type: 'string' } };
const data = { type: 'string', contentMediaType: 'application/json', contentSchema: { type: 'object', properties } };
const itemSchema = { type: 'object', required: ['data'], properties: { id: { type: 'string' }, data } };
const responses = { 200: { description: 'plants', content: { 'text/event-stream': { itemSchema } } } };
const parameters = [{ name: 'mode', in: 'path', required: true, schema: { type: 'string' } }];
const paths = { '/{mode}': { get: { operationId: 'watch', parameters, responses } } };
const document = { openapi: '3.2.0', info: { title: 'Streams', version: '1' }, paths };

const contenders = {
  async 'This service'() {
    async function* plants(isIdle: boolean, signal: AbortSignal) {
      do yield { id: '1', data: plant };
      while (!isIdle);
      await once(signal, 'abort');
    }
    const handlers = {
      watch: ({ path, signal }: { readonly path: { readonly mode?: unknown }; readonly signal: AbortSignal }) => ({
        status: 200,
        body: plants(path.mode === 'idle', signal),
      }),
    };
    const folder = mkdtempSync(join(tmpdir(), 'streams-'));
    const file = join(folder, 'openapi.json');
    writeFileSync(file, JSON.stringify(document));
    const app = await createApp({ document: file, handlers });
    rmSync(folder, { recursive: true });
    return app;
  },
  async Express() {
    return express().get('/:mode', async ({ params }, response) => {
      response.setHeader('Content-Type', 'text/event-stream').setHeader('Cache-Control', 'no-cache');
      do {
        if (response.write(`id: 1\ndata: ${JSON.stringify(plant)}\n\n`)) continue;
        await once(response, 'drain');
        // Otherwise no other request would be served.
        await turn();
      } while (params.mode !== 'idle');
    });
  },
} as const;

/** Prints events per second of one stream and of many, and the memory of a stream that waits. */
export async function benchStreams(seconds: number): Promise<void> {
  const rows: Record<string, object> = {};
  for (const name of Object.keys(contenders)) {
    const child = fork(import.meta.filename, [name]);
    const [port] = await once(child, 'message');
    const memory = async (): Promise<number> => {
      child.send('memory');
      return (await once(child, 'message'))[0];
    };
    const open = async (mode: string, count: number, use: (all: IncomingMessage[]) => Promise<void>) => {
      const agent = new Agent({ keepAlive: false });
      const asked = Array.from({ length: count }, () => {
        const request = get({ port, path: `/${mode}`, agent });
        // The end of a measurement cuts the connection.
        return once(request, 'response').finally(() => request.on('error', () => undefined));
      });
      const streams = (await Promise.all(asked)).map(([response]): IncomingMessage => response);
      await use(streams);
      for (const stream of streams) stream.on('error', () => undefined).destroy();
      await delay(500);
    };
    const rate = async (count: number): Promise<number> => {
      let bytes = 0;
      let took = 0;
      await open('busy', count, async (streams) => {
        for (const stream of streams) stream.on('data', (chunk) => (bytes += chunk.length));
        const started = performance.now();
        await delay(seconds * 1000);
        took = (performance.now() - started) / 1000;
      });
      return Math.round(bytes / EVENT.length / took);
    };
    await rate(1);
    const before = await memory();
    let waiting = 0;
    await open('idle', OPEN, async () => {
      waiting = ((await memory()) - before) / OPEN;
    });
    const of = { 'events/s, 1 stream': await rate(1), [`events/s, ${OPEN} streams`]: await rate(OPEN) };
    rows[name] = { ...of, 'KiB a waiting stream': Math.round(waiting / 1024) };
    child.disconnect();
  }
  console.table(rows);
}

if (process.argv[1] === import.meta.filename) {
  const app = await contenders[process.argv[2] as keyof typeof contenders]();
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('message', () => {
    globalThis.gc?.();
    process.send?.(process.memoryUsage.rss());
  });
  process.on('disconnect', () => process.exit());
  process.send?.((server.address() as AddressInfo).port);
}
