import { parentPort, workerData } from 'node:worker_threads';
import type { Connection } from './connection.ts';
import { explain, FileLost, isLasting, isSuspect, keepsConnection } from './errors.ts';
import { openConnection } from './open.ts';
import { type Answer, type Outcome, packError, type Request, type ThreadData } from './protocol.ts';

/** How often the thread looks whether the database is idle, in milliseconds. */
const IDLE_MS = 1_000;

const port = parentPort;
if (port === null) throw new Error('this file runs as a worker thread only');
const { file, module, create }: ThreadData = workerData;
const { default: define } = await import(module);

let connection: Connection | undefined;
let opened = false;
/** Whether the next connection must check the whole file first. */
let suspect = false;
let failed = false;
let used = false;

port.on('message', (request: Request) => {
  if (request === 'close') {
    clearInterval(idle);
    connection?.close();
    port.close();
    return;
  }
  used = true;
  const answered = answer(request);
  send(answered);
  if (request !== 'check' && !('trouble' in answered)) tidy(false);
});

const idle = setInterval(() => {
  if (!used) tidy(true);
  used = false;
}, IDLE_MS);

function answer(request: Exclude<Request, 'close'>): Answer {
  try {
    connection ??= openConnection({ file, create: create && !opened }, define, suspect);
    opened = true;
    suspect = false;
    if (request === 'check') connection.check(failed);
    const outcomes = request === 'check' ? [] : connection.run(request);
    failed = false;
    return outcomes;
  } catch (error) {
    failed = true;
    recover(error);
    return { trouble: explain(file, error), cause: packError(error), lasting: isLasting(error) };
  }
}

/** A result that cannot be cloned fails its own call only. */
function send(answered: Answer): void {
  try {
    port?.postMessage(answered);
  } catch {
    if ('trouble' in answered) throw new Error(answered.trouble);
    port?.postMessage(
      answered.map((outcome): Outcome => {
        try {
          return structuredClone(outcome);
        } catch (error) {
          return [undefined, packError(error)];
        }
      }),
    );
  }
}

/** Keeps the log short. What fails here is found again by the next request. */
function tidy(idle: boolean): void {
  try {
    connection?.checkpoint(idle);
  } catch (error) {
    recover(error);
  }
}

/** Rolls back, and closes a connection where a fresh one may do better. */
function recover(error: unknown): void {
  if (opened && isSuspect(error)) suspect = true;
  if (connection === undefined) return;
  const { db } = connection;
  try {
    if (db.isTransaction) db.exec('ROLLBACK');
    if (file === ':memory:' || keepsConnection(error)) return;
    if (error instanceof FileLost && error.message !== file) {
      // A fresh connection would begin another log, beside the one that other processes may have open as well.
      db.exec('PRAGMA wal_checkpoint');
      return;
    }
  } catch {
    // Closing rolls back as well.
  }
  const closing = connection;
  connection = undefined;
  try {
    closing.close();
  } catch {
    // The error at hand says more.
  }
}
