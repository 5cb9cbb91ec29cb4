import type { AnyHandler } from '../document/handler-types.ts';

/** What stands behind the operations: opened when the service starts, closed when it stops. */
export interface Backend {
  /** By operationId: the `Handlers` of the generated types. */
  readonly handlers: Readonly<Record<string, AnyHandler>>;
  /** Where it keeps its data, shown to people at the start: without secrets. */
  readonly place?: string | undefined;
  /** Called for `GET /readyz`. @throws {HttpError} that says why it could not answer now. */
  ready?(): Promise<void>;
  /** How many requests wait for it: the metric `store_waiting`. */
  waiting?(): number;
  /** Finishes what waits, then lets go of everything. */
  close?(): Promise<void>;
}

/** What a backend is told when it is opened. */
export interface OpenContext {
  /** How many processes serve together (`WORKERS`), from 1. */
  readonly workers: number;
  /** To be called with the number of requests that shared a commit: the metric `store_batch_size`. */
  readonly onBatch: ((requests: number) => void) | undefined;
}
