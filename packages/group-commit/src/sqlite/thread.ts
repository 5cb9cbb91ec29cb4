import { parentPort, workerData } from 'node:worker_threads';
import { type Connection, openConnection } from './connection.ts';
import { troubleOf } from './errors.ts';
import type { Answer, Request, ThreadData } from './protocol.ts';

const port = parentPort;
if (port === null) throw new Error('this file runs as a worker thread only');
const { file, module }: ThreadData = workerData;
const define = await import(module).then(
  (loaded) => loaded.default,
  (error: unknown) => () => {
    throw error;
  },
);

let connection: Connection | undefined;
let opened = false;

port.on('message', (request: Request) => {
  if (request === 'close') {
    connection?.db.close();
    port.close();
    return;
  }
  try {
    port.postMessage(answer(request));
  } catch (error) {
    // A result cannot be cloned.
    port.postMessage(troubleOf(file, error));
  }
});

function answer(request: Exclude<Request, 'close'>): Answer {
  try {
    // Once it has been open, a missing file is lost data.
    connection ??= openConnection(file, !opened, define, (message) => port?.postMessage(message));
    opened = true;
    return request === 'check' ? connection.check() : connection.run(request);
  } catch (error) {
    // A new connection may do better, except in memory.
    if (file !== ':memory:') close();
    return troubleOf(file, error);
  }
}

function close(): void {
  const db = connection?.db;
  connection = undefined;
  try {
    db?.close();
  } catch {
    // The error at hand says more.
  }
}
