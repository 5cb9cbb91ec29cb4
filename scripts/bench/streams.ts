/**
 * Compares streams of events with Express, which writes the same bytes. Each server runs in a
 * separate process.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import express from 'express';
import { createApp } from 'spec-first-server';

const plant = { id: 1, name: 'Monstera deliciosa', tag: 'tropical' };
const EVENT = `id: 1\ndata: ${JSON.stringify(plant)}\n\n`;

/** Each stream sends one event and waits for this promise. Then it sends as fast as it is read. */
const go = Promise.withResolvers<void>();

const contenders = {
  async 'This service'() {
    const watch = async function* () {
      yield { id: '1', data: plant };
      await go.promise;
      for (;;) yield { id: '1', data: plant };
    };
    return createApp({
      document: join(import.meta.dirname, 'streams.yaml'),
      handlers: { watch: () => ({ status: 200, body: watch() }) },
    });
  },
  async Express() {
    return express().get('/', async (_request, response) => {
      response
        .setHeader('Content-Type', 'text/event-stream')
        .setHeader('Cache-Control', 'no-cache')
        .write(EVENT);
      await go.promise;
      for (;;) {
        if (response.write(`id: 1\ndata: ${JSON.stringify(plant)}\n\n`)) continue;
        await once(response, 'drain');
        // Without a turn of the event loop, a stream that is read fast blocks all other requests.
        await immediate();
      }
    });
  },
};

/** Prints events per second of one stream and of `open` streams, and the memory of an idle one. */
export async function benchStreams(seconds: number, open: number): Promise<void> {
  const rows: Record<string, object> = {};
  for (const name of Object.keys(contenders)) {
    const one = await measure(name, 1, seconds);
    const { rate, memory } = await measure(name, open, seconds);
    rows[name] = {
      'events/s, 1 stream': one.rate,
      [`${open} streams`]: rate,
      'KiB per idle stream': memory,
    };
  }
  console.table(rows);
}

async function measure(name: string, count: number, seconds: number) {
  const child = fork(import.meta.filename, [name]);
  const request = async (message: 'port' | 'memory'): Promise<number> => {
    child.send(message);
    return (await once(child, 'message'))[0];
  };
  const port = await request('port');
  const before = await request('memory');
  const open = async (): Promise<IncomingMessage> => {
    // Killing the server at the end causes an error of the connection.
    const connection = get({ port, agent: false }).on('error', () => {});
    const [response] = await once(connection, 'response');
    return response.on('error', () => {});
  };
  const streams = await Promise.all(Array.from({ length: count }, open));
  const memory = Math.round(((await request('memory')) - before) / count / 1024);
  let bytes = 0;
  for (const stream of streams) stream.on('data', (chunk) => (bytes += chunk.length));
  child.send('go');
  await delay(seconds * 1000);
  bytes = 0;
  const started = performance.now();
  // A busy server may need longer for its first event.
  do await delay(seconds * 1000);
  while (bytes === 0);
  const rate = Math.round(bytes / EVENT.length / ((performance.now() - started) / 1000));
  child.kill('SIGKILL');
  await once(child, 'exit');
  return { rate, memory };
}

if (process.argv[1] === import.meta.filename) {
  const app = await contenders[process.argv[2] as keyof typeof contenders]();
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('message', (message) => {
    if (message === 'go') go.resolve();
    else if (message === 'port') process.send?.((server.address() as AddressInfo).port);
    else process.send?.(process.memoryUsage.rss());
  });
  process.on('disconnect', () => process.exit());
}
