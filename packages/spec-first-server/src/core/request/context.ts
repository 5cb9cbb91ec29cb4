import Negotiator from 'negotiator';
import type { Call, CallRecord } from '../call.ts';
import type { AnyRequest, Log, RequestLog } from '../handlers/types.ts';

/**
 * The members of a handler's request besides parameters, body, `contentType` and caller. A class,
 * because V8 stores getters of plain objects in hidden classes: these would keep the whole request
 * in memory until the next major garbage collection.
 */
export class RequestContext {
  readonly headers: AnyRequest['headers'];
  readonly id: string;
  readonly accepts: AnyRequest['accepts'];
  declare readonly log: RequestLog;
  declare readonly signal: AbortSignal;
  readonly #call: Call;
  readonly #record: CallRecord;
  readonly #appLog: Log;
  #log: RequestLog | undefined;
  #controller: AbortController | undefined;

  constructor(call: Call, record: CallRecord, log: Log) {
    const { headers } = call;
    this.headers = headers;
    this.id = record.id;
    this.accepts = (...types) =>
      new Negotiator({ headers: { accept: headers.accept || undefined } }).mediaType([...types]);
    this.#call = call;
    this.#record = record;
    this.#appLog = log;
    // Created on their first use. Properties of the instance, since `{ ...request }` copies only
    // these.
    Object.defineProperty(this, 'log', RequestContext.#logGetter);
    Object.defineProperty(this, 'signal', RequestContext.#signalGetter);
  }

  static readonly #logGetter = {
    enumerable: true,
    get(this: RequestContext): RequestLog {
      const { id: requestId, traceId, operationId } = this.#record;
      this.#log ??= this.#appLog.child({ requestId, traceId, operationId });
      return this.#log;
    },
  };

  static readonly #signalGetter = {
    enumerable: true,
    get(this: RequestContext): AbortSignal {
      this.#controller ??= abortedWith(this.#call.signal);
      return this.#controller.signal;
    },
  };

  abort(): void {
    this.#controller?.abort();
  }
}

function abortedWith(signal: AbortSignal | undefined): AbortController {
  const controller = new AbortController();
  if (signal?.aborted) controller.abort();
  else signal?.addEventListener('abort', () => controller.abort());
  return controller;
}
