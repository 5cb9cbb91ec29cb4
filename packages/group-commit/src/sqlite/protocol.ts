/** What the database thread starts with. */
export interface ThreadData {
  /** The database file as an absolute path, or `:memory:`. */
  readonly file: string;
  /** URL of the module that defines the functions. */
  readonly module: string;
}

/** A call of one of the module's functions. */
export type Call = readonly [name: string, ...args: unknown[]];

/** Calls that share one transaction. `check` asks whether the database works. After `close` the thread ends. */
export type Request = readonly Call[] | 'check' | 'close';

/** What a call returned, or the error that it threw. */
export type SentOutcome = undefined | readonly [result: unknown, error?: SentError];

/** One outcome for each call, or none at all if no call returned anything. Requests are answered in their order. */
export type Answer = readonly SentOutcome[] | Trouble;

/** What the thread sends: answers, and warnings for the operator. */
export type Message = Answer | string;

/** An error between threads. Structured cloning alone drops the name and the code. */
export type SentError = Readonly<Record<string, unknown>>;

/** Why nothing of a request was done. */
export interface Trouble {
  /** One sentence for the operator. */
  readonly trouble: string;
  readonly code: string;
  readonly cause: SentError;
  /** Whether waiting does not help. */
  readonly lasting: boolean;
}
