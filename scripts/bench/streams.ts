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
const paths = { '/': { get: { operationId: 'watch', responses } } };
const document = { openapi: '3.2.0', info: { title: 'Streams', version: '1' }, paths };

/** Each stream sends one event, waits for this, and then sends as fast as it is read. */
const go = Promise.withResolvers<void>();

const contenders = {
  async 'This service'() {
    async function* plants() {
      yield { id: '1', data: plant };
      await go.promise;
      for (;;) yield { id: '1', data: plant };
    }
    const handlers = { watch: () => ({ status: 200, body: plants() }) };
    const folder = mkdtempSync(join(tmpdir(), 'streams-'));
    const file = join(folder, 'openapi.json');
    writeFileSync(file, JSON.stringify(document));
    const app = await createApp({ document: file, handlers });
    rmSync(folder, { recursive: true });
    return app;
  },
  async Express() {
    return express().get('/', async (_request, response) => {
      response.setHeader('Content-Type', 'text/event-stream').setHeader('Cache-Control', 'no-cache').write(EVENT);
      await go.promise;
      for (;;) {
        if (response.write(`id: 1\ndata: ${JSON.stringify(plant)}\n\n`)) continue;
        await once(response, 'drain');
        // Otherwise no other request would be served.
        await turn();
      }
    });
  },
} as const;

/** Prints events per second of one stream and of many, and the memory of a stream that waits. */
export async function benchStreams(seconds: number): Promise<void> {
  const rows: Record<string, object> = {};
  for (const name of Object.keys(contenders)) {
    await measure(name, 1, seconds);
    const [one, many] = [await measure(name, 1, seconds), await measure(name, OPEN, seconds)];
    rows[name] = {
      'events/s, 1 stream': one.rate,
      [`events/s, ${OPEN} streams`]: many.rate,
      'KiB a waiting stream': Math.round(many.memory / 1024),
    };
  }
  console.table(rows);
}

async function measure(name: string, count: number, seconds: number) {
  const child = fork(import.meta.filename, [name]);
  const [port] = await once(child, 'message');
  const memory = async (): Promise<number> => {
    child.send('memory');
    return (await once(child, 'message'))[0];
  };
  const before = await memory();
  const agent = new Agent({ keepAlive: false });
  const open = async (): Promise<IncomingMessage> => {
    const request = get({ port, agent });
    const [response] = await once(request, 'response');
    // The end of the measurement cuts the connection.
    request.on('error', () => {});
    return response.on('error', () => {});
  };
  const streams = await Promise.all(Array.from({ length: count }, open));
  const waiting = ((await memory()) - before) / count;
  const allSend = () => Promise.all(streams.map((stream) => once(stream, 'data')));
  await allSend();
  child.send('go');
  await allSend();
  let bytes = 0;
  for (const stream of streams) stream.on('data', (chunk) => (bytes += chunk.length));
  const started = performance.now();
  await delay(seconds * 1000);
  const rate = Math.round(bytes / EVENT.length / ((performance.now() - started) / 1000));
  child.kill('SIGKILL');
  await once(child, 'exit');
  return { rate, memory: waiting };
}

if (process.argv[1] === import.meta.filename) {
  const app = await contenders[process.argv[2] as keyof typeof contenders]();
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('message', (message) => {
    if (message === 'go') go.resolve();
    else process.send?.(process.memoryUsage.rss());
  });
  process.on('disconnect', () => process.exit());
  process.send?.((server.address() as AddressInfo).port);
}
