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
    if (this.#caller === undefined || !isStanding(this.#caller)) return undefined;
    const presented = Buffer.from(authorization);
    const isSame = presented.length === this.#header.length && timingSafeEqual(presented, this.#header);
    return isSame ? this.#caller : undefined;
  }

  remember(authorization: string | undefined, caller: Caller | undefined): void {
    if (authorization === undefined || caller === undefined || !isStanding(caller)) return;
    this.#header = Buffer.from(authorization);
    this.#caller = caller;
  }
}
