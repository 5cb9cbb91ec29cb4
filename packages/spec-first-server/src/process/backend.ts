import type { AnyHandler } from '../handlers/types.ts';

/** What answers the operations: opened when the service starts, closed when it stops. */
export interface Backend {
  /** By operationId: the `Handlers` of the generated types. */
  readonly handlers: Readonly<Record<string, AnyHandler>>;
  /** Where it keeps its data, shown at the start: without secrets. */
  readonly location?: string | undefined;
  /** Called for `GET /readyz`. @throws {HttpError} with the reason, if it cannot answer now. */
  ready?(): Promise<void>;
  /** How many requests wait for it: the metric `store_waiting`. */
  waiting?(): number;
  /** What else can be measured now, by name: the metrics `store_NAME`. */
  stats?(): Readonly<Record<string, number>>;
  /** Finishes the requests that wait, then closes everything. */
  close?(): Promise<void>;
}

/** What `open` is told of the process. */
export interface OpenContext {
  /** How many processes serve together (`WORKERS`), from 1. */
  readonly workers: number;
  /** To be called with the number of requests that shared a commit (`store_batch_size`), and the seconds that it took. */
  readonly onBatch?: ((requests: number, seconds: number) => void) | undefined;
  /** To be called after each new connection, with the seconds that it took. */
  readonly onConnect?: ((seconds: number) => void) | undefined;
  /** To be called for each request that could not be answered now, with a short name of the reason. */
  readonly onUnavailable?: ((code: string) => void) | undefined;
  /** Logs what the operator should know, though the backend opens. */
  warn(message: string): void;
}
