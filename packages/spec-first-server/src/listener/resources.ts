import type { HttpFailure } from '../http/failures.ts';

/** A number of bytes that all requests of a process share. */
export interface Memory {
  readonly bytesLeft: number;
  /** The failure of a request for which there is no memory. */
  readonly failure: HttpFailure;
  /**
   * Reserves bytes, or releases them if the number is negative. Returns false if too few bytes are
   * left. Then none are reserved.
   */
  reserve(bytes: number): boolean;
}

/** Divides the time of the process between callers. */
export interface Turns {
  /** Runs work now, or in a later round of the event loop if others wait. */
  run(taker: TurnTaker, work: () => void): unknown;
  /** Resolves in a later round of the event loop. No further work is started in that round. */
  nextRound(taker: TurnTaker): Promise<void>;
}

interface TurnTaker {
  /** Work of the same caller shares its turns. */
  readonly caller: string;
}

/** The resources that the connections of a server share with its app. */
export interface Resources {
  readonly memory: Memory;
  readonly turns: Turns;
}
