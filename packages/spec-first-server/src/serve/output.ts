import { write, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';

/** The number of buffered characters that are written at once. A write per line would cost more. */
const MIN_WRITE = 128 * 1024;

/** The time after which fewer characters are written, in milliseconds. */
const MAX_DELAY = 500;

/** The time until the rest of the bytes is written to a pipe that is full, in milliseconds. */
const RETRY_DELAY = 10;

/** The maximum number of buffered characters while the disk is full or no process reads. */
const MAX_BUFFERED = 16 * 1024 ** 2;

const STDOUT = 1;

type OnWritten = (bytes: number, error?: Error | null) => void;

/**
 * Returns the function that writes bytes to standard output. It blocks neither the process nor its
 * end: files are written by a thread, and a thread that waits for the reader of a pipe would keep
 * the process from ending.
 */
function writer(): (bytes: Uint8Array, onWritten: OnWritten) => void {
  // Reading `process.stdout` makes a pipe non-blocking.
  const isPipe = process.stdout instanceof Socket && !isatty(STDOUT);
  if (!isPipe)
    return (bytes, onWritten) =>
      write(STDOUT, bytes, (error, written) => onWritten(written ?? 0, error));
  return (bytes, onWritten) => {
    let written = 0;
    let failure: Error | undefined;
    try {
      written = writeSync(STDOUT, bytes);
    } catch (error) {
      const isFull = Object(error).code === 'EAGAIN';
      if (!isFull) failure = new Error('the log cannot be written', { cause: error });
    }
    onWritten(written, failure);
  };
}

/**
 * Buffers the lines of the log for standard output. Lines beyond a limit are dropped.
 *
 * @param onLost called with the number of dropped lines when the buffer is written.
 */
export function createOutput(onLost: (lines: number) => void) {
  const writeBytes = writer();
  let lines: string[] = [];
  let size = 0;
  /** The bytes of a write in progress, or of one that is not complete. */
  let unwritten: Uint8Array = new Uint8Array();
  let isWriting = false;
  /** The size from which lines are written. */
  let threshold = MIN_WRITE;
  let retry: NodeJS.Timeout | undefined;
  let lostLines = 0;
  let reportedLines = 0;
  let flushes: (() => void)[] = [];
  setInterval(writeNext, MAX_DELAY).unref();

  function writeNext(): void {
    if (isWriting) return;
    clearTimeout(retry);
    if (unwritten.length === 0) {
      unwritten = Buffer.from(lines.join(''));
      lines = [];
      size = 0;
    }
    if (unwritten.length === 0) {
      endFlushes();
    } else {
      isWriting = true;
      writeBytes(unwritten, onWritten);
    }
  }

  function onWritten(bytes: number, error?: Error | null): void {
    isWriting = false;
    unwritten = unwritten.subarray(bytes);
    if (error) {
      // The same bytes are written again at the next interval.
      threshold = Infinity;
      endFlushes();
    } else if (unwritten.length > 0) {
      threshold = size + MIN_WRITE;
      retry = setTimeout(writeNext, RETRY_DELAY);
    } else {
      threshold = MIN_WRITE;
      if (size === 0) reportLost();
      if (size >= threshold || flushes.length > 0) writeNext();
    }
  }

  function reportLost(): void {
    const lost = lostLines - reportedLines;
    reportedLines = lostLines;
    if (lost > 0) onLost(lost);
  }

  function endFlushes(): void {
    const ended = flushes;
    flushes = [];
    for (const end of ended) end();
  }

  return {
    lostLines: () => lostLines,
    write(line: string): void {
      if (size + unwritten.length + line.length > MAX_BUFFERED) {
        lostLines += 1;
        return;
      }
      lines.push(line);
      size += line.length;
      if (size >= threshold) writeNext();
    },
    /** Writes the buffered lines. Calls back when they are written, or cannot be. */
    flush(callback: () => void): void {
      flushes.push(callback);
      writeNext();
    },
  };
}
