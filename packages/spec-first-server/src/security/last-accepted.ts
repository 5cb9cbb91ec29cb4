import { timingSafeEqual } from 'node:crypto';
import type { Caller } from '../handlers/types.ts';
import { isStanding } from './tokens.ts';

/**
 * The last Authorization header that was accepted for an access token. Checking it again would take 1 µs of a request.
 * Signed tokens are not remembered: they expire.
 */
export class LastAccepted {
  #header = Buffer.alloc(0);
  #caller: Caller | undefined;

  /** Compares in constant time. */
  callerOf(authorization = ''): Caller | undefined {
    const presented = Buffer.from(authorization);
    if (presented.length !== this.#header.length || !timingSafeEqual(presented, this.#header)) return undefined;
    return this.#caller !== undefined && isStanding(this.#caller) ? this.#caller : undefined;
  }

  remember(authorization = '', caller: Caller | undefined): void {
    if (caller === undefined || !isStanding(caller)) return;
    this.#header = Buffer.from(authorization);
    this.#caller = caller;
  }
}
