import { parentPort, workerData } from 'node:worker_threads';
import type { Connection } from './connection.ts';
import { explain, isLasting, keepsConnection, nameOf } from './errors.ts';
import { openConnection } from './open.ts';
import { type Answer, packError, type Request, type ThreadData } from './protocol.ts';

/** How often the thread looks whether the database is idle, in milliseconds. */
const IDLE_MS = 1_000;

/** How long a check waits for a lock, in milliseconds. */
const CHECK_LOCK_MS = 400;

const port = parentPort;
if (port === null) throw new Error('this file runs as a worker thread only');
const { file, module, create }: ThreadData = workerData;
const { default: define } = await import(module);

let connection: Connection | undefined;
let opened = false;
let failed = false;
let used = false;

port.on('message', (request: Request) => {
  if (request === 'close') {
    clearInterval(idle);
    connection?.db.close();
    port.close();
    return;
  }
  used = true;
  const answered = answer(request);
  try {
    port.postMessage(answered);
  } catch (error) {
    port.postMessage(answerOf(error));
  }
  if (request !== 'check' && !('trouble' in answered)) tidy(false);
});

const idle = setInterval(() => {
  if (!used) tidy(true);
  used = false;
}, IDLE_MS);

function answer(request: Exclude<Request, 'close'>): Answer {
  try {
    connection ??= openConnection({ file, create: create && !opened }, define);
    opened = true;
    if (request === 'check') connection.check(failed, CHECK_LOCK_MS);
    const outcomes = request === 'check' ? [] : connection.run(request);
    failed = false;
    return outcomes;
  } catch (error) {
    failed = true;
    recover(error);
    return answerOf(error);
  }
}

const answerOf = (error: unknown): Answer => ({
  trouble: explain(file, error),
  code: nameOf(error),
  cause: packError(error),
  lasting: isLasting(error),
});

/** Keeps the log short, and warns if that cannot be done. What fails here is found again by the next request. */
function tidy(idle: boolean): void {
  try {
    const pages = connection?.checkpoint(idle);
    if (pages === undefined) return;
    const megabytes = Math.round((pages * 4096) / 1e6);
    port?.postMessage(
      `${file}-wal has ${megabytes} MB, since somebody reads for long: end old transactions and sqlite3 shells`,
    );
  } catch (error) {
    recover(error);
  }
}

/** Rolls back, and closes a connection where a new one may do better. */
function recover(error: unknown): void {
  const db = connection?.db;
  if (file === ':memory:' || keepsConnection(error)) {
    if (db?.isTransaction) db.exec('ROLLBACK');
    return;
  }
  connection = undefined;
  try {
    db?.close();
  } catch {
    // The error at hand says more.
  }
}
