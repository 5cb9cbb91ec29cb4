import cluster from 'node:cluster';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import sonic from 'sonic-boom';

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

/**
 * Standard output.
 *
 * @param onLost called with the number of lines that were dropped since the last call, once lines are accepted again.
 */
export function createOutput(onLost: (lines: number) => void): Output {
  const out = new sonic.SonicBoom({ fd: 1, minLength: 1, maxLength: MOST_WAITING, maxWrite: LARGEST_WRITE });
  let lines = '';
  let lost = 0;
  out.on('drop', (dropped: string) => {
    const count = dropped.split('\n').length - 1;
    lost += count;
    allLost += count;
  });
  out.on('drain', () => {
    if (lost > 0) onLost(lost);
    lost = 0;
  });
  // The lines stay, and are written with the next ones.
  out.on('error', () => undefined);

  const pass = (): void => {
    if (lines !== '') out.write(lines);
    lines = '';
  };
  setInterval(pass, LONGEST_WAIT).unref();
  const flush = (callback: () => void): void => {
    pass();
    out.flush(() => (lines === '' ? callback() : flush(callback)));
  };
  output = {
    write(line) {
      lines += line;
      if (lines.length > GATHERED) pass();
    },
    flush,
  };
  return output;
}

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
