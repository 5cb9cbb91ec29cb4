import { DEFAULT_STEPS } from 'openapi-document';
import {
  type Folders,
  MEMORY_LIMIT,
  type Memory,
  NO_MEMORY,
  type Resources,
} from '../http/resources.ts';
import type { Turns } from '../http/turns.ts';
import { HttpError } from './response/http-error.ts';

/**
 * The maximum number of bytes that one call is charged. If BODY_LIMIT is raised, a call may need
 * more than this; it would otherwise be rejected for ever.
 */
const MAX_CHARGED = MEMORY_LIMIT / 4;

/** The memory, the CPU time and the steps of validation that one call spends. */
export class Account {
  /** The steps that are left to validate the request and the reply. */
  steps = DEFAULT_STEPS;
  /**
   * The name by which calls take turns: the authenticated subject, or the client's address. Empty
   * for all unknown clients. Set before anything is charged.
   */
  caller: string;
  /** Divides the CPU time between this call and others. */
  readonly turns: Turns;
  /** Contains the folder of the call while it has one. */
  readonly folders: Folders;
  readonly #memory: Memory;
  #cleanups: readonly (() => void)[] | undefined;
  #charged = 0;
  /** The part of the charged bytes that is reserved. */
  #reserved = 0;
  #isSettled = false;

  /** @param client the client's address. */
  constructor({ memory, turns, folders }: Resources, client: string | undefined) {
    this.turns = turns;
    this.folders = folders;
    this.#memory = memory;
    this.caller = client ?? '';
  }

  /**
   * Charges bytes until the call is settled. A negative number refunds bytes that the call does not
   * need any more.
   *
   * @throws {HttpError} 503
   */
  charge(bytes: number): void {
    if (this.#isSettled) return;
    const charged = this.#charged + bytes;
    const reserved = Math.min(charged, MAX_CHARGED);
    const isReserved = this.#reserve(reserved - this.#reserved);
    if (!isReserved) throw HttpError.of(NO_MEMORY);
    this.#charged = charged;
    this.#reserved = reserved;
  }

  /** Unknown clients have no common share of the memory. */
  #reserve(bytes: number): boolean {
    return this.#memory.reserve(bytes, this.caller || undefined);
  }

  /** Runs `cleanup` when the call is settled. */
  defer(cleanup: () => void): void {
    if (this.#isSettled) cleanup();
    else this.#cleanups = [...(this.#cleanups ?? []), cleanup];
  }

  /**
   * Releases everything that the call holds. Called when its request is not needed any more, or
   * when its streamed answer has ended.
   */
  settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#reserve(-this.#reserved);
    if (this.#cleanups !== undefined) for (const cleanup of this.#cleanups) cleanup();
  }
}

/** The maximum memory in bytes that a byte takes when it is parsed: an empty object. */
export const MAX_ESTIMATE = 64;

/**
 * The bytes of memory that a parsed value takes, by the characters of its text: an object or array,
 * an item, a member, a field of a form, and 1 for every other byte.
 */
const SIZES = new Uint8Array(256).fill(1);
for (const [characters, size] of [
  ['{[&', MAX_ESTIMATE],
  [':', 32],
  [',', 16],
] as const) {
  for (const character of characters) SIZES[character.charCodeAt(0)] = size;
}

/**
 * Estimates the memory in bytes that a text will take when it is parsed as JSON or as a form. For
 * `[{},{},…]`, this is 27 times its length.
 */
export function estimatedSize(text: Uint8Array): number {
  let size = 0;
  // An iterator would take eight times as long.
  for (let index = 0; index < text.length; index += 1) size += SIZES[text[index] ?? 0] ?? 0;
  return size;
}
