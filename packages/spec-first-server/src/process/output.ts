import cluster from 'node:cluster';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import sonic from 'sonic-boom';
import { tellSupervisor } from './messages.ts';

/** Lines gather up to this length: a write for each costs more than the line. Characters. */
const GATHERED = 32 * 1024;

/** How long a line waits for others. Milliseconds. */
const LONGEST_WAIT = 500;

/** Bytes of one write. One write is under way at a time: it must take all that a turn of the event loop logs. */
const LARGEST_WRITE = 1024 * 1024;

/** Bytes of lines that may wait while nothing takes them: the disk is full, or nobody reads standard output. */
const MOST_WAITING = 16 * 1024 * 1024;

/** How long the end of the process waits for the last lines to be written. Milliseconds. */
const LAST_LINES = 1000;

/** Where the lines of the log go. */
export interface Output {
  /** Takes a line, or several. Never blocks. */
  write(lines: string): void;
  /** Writes all lines so far. Calls back once they are written, or cannot be. */
  flush(callback: () => void): void;
}

let output: Output | undefined;
let allLost = 0;

/** How many lines of this process's log were dropped so far. */
export const lostLines = (): number => allLost;

const countLines = (text: string): number => text.split('\n').length - 1;

/**
 * Standard output. A worker passes its lines to the supervisor, so that the lines of several processes do not mix.
 *
 * @param onLost called with the number of lines that were dropped since the last call, once lines are accepted again.
 */
export function createOutput(onLost: (lines: number) => void): Output {
  const out = new sonic.SonicBoom({ fd: 1, minLength: 1, maxLength: MOST_WAITING, maxWrite: LARGEST_WRITE });
  let lines = '';
  let passed = 0;
  let lost = 0;
  const accepted = (): void => {
    if (lost > 0) onLost(lost);
    lost = 0;
  };
  const drop = (dropped: string): void => {
    const count = countLines(dropped);
    lost += count;
    allLost += count;
  };
  out.on('drop', drop);
  out.on('drain', accepted);
  // The lines stay, and are written with the next ones.
  out.on('error', () => undefined);

  const pass = async (): Promise<void> => {
    const text = lines;
    lines = '';
    if (text === '') return;
    if (!cluster.isWorker || !process.connected) {
      out.write(text);
    } else if (passed + text.length > MOST_WAITING) {
      drop(text);
    } else {
      passed += text.length;
      await tellSupervisor({ log: text });
      passed -= text.length;
      accepted();
    }
  };
  setInterval(pass, LONGEST_WAIT).unref();
  const flush = (callback: () => void): void => {
    void pass().then(() => out.flush(() => (lines === '' ? callback() : flush(callback))));
  };
  output = {
    write(line) {
      lines += line;
      if (lines.length > GATHERED) void pass();
    },
    flush,
  };
  return output;
}

/** Writes lines of a worker's log. */
export const writeLines = (lines: string): void => output?.write(lines);

/** Ends the process when the log is written; after {@link LAST_LINES} by SIGKILL, if nobody reads it. */
export async function endProcess(code: number): Promise<void> {
  // Lines for people pass through streams.
  await immediate();
  const flushed = new Promise<true>((resolve) => (output ? output.flush(() => resolve(true)) : resolve(true)));
  if (await Promise.race([flushed, delay(LAST_LINES, false)])) process.exit(code);
  // process.exit() would wait for the thread that waits for a reader.
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
  process.kill(process.pid, 'SIGKILL');
}
