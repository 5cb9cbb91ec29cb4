import { rmSync } from 'node:fs';
import type { HttpFailure } from './failures.ts';
import { Turns } from './turns.ts';

/** The maximum number of bytes that all calls of a process may hold together. */
export const MEMORY_LIMIT = 64 * 1024 ** 2;

/** The failure of a request for which there is no memory. */
export const NO_MEMORY: HttpFailure = {
  status: 503,
  message: 'too many requests at once: try again later',
  headers: { 'Retry-After': 1 },
  expected: true,
};

/** The memory that the calls of a service share. */
export class Memory {
  #bytesLeft = MEMORY_LIMIT;
  readonly #heldBy = new Map<string, number>();

  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  /**
   * Reserves bytes, or releases them if the number is negative. Returns false if too few bytes are
   * left, or if the caller would hold more than is left for others. Then none are reserved.
   */
  reserve(bytes: number, caller?: string): boolean {
    const left = this.#bytesLeft - bytes;
    const held = caller === undefined ? 0 : (this.#heldBy.get(caller) ?? 0) + bytes;
    if (bytes > 0 && left < held) return false;
    this.#bytesLeft = left;
    if (caller !== undefined) {
      if (held === 0) this.#heldBy.delete(caller);
      else this.#heldBy.set(caller, held);
    }
    return true;
  }
}

/** The folders with files of calls. They are removed if the process ends before their calls. */
export class Folders {
  readonly #paths = new Set<string>();
  readonly #removeAll = (): void => {
    for (const path of this.#paths) rmSync(path, { recursive: true, force: true });
  };

  add(path: string): void {
    if (this.#paths.size === 0) process.on('exit', this.#removeAll);
    this.#paths.add(path);
  }

  delete(path: string): void {
    this.#paths.delete(path);
    if (this.#paths.size === 0) process.off('exit', this.#removeAll);
  }
}

/** The memory, CPU time and folders that the calls of a service share, also with the server. */
export class Resources {
  readonly memory = new Memory();
  readonly folders = new Folders();
  readonly turns = new Turns();
}
