import Negotiator from 'negotiator';
import type { Call, CallRecord } from '../call.ts';
import type { AnyRequest, Log, RequestLog } from '../handlers/types.ts';

/**
 * The members of a handler's request besides parameters, body, `contentType` and caller. A class
 * with getters, because V8 stores functions of plain objects in hidden classes: these would keep
 * the whole request in memory until the next major garbage collection.
 */
export class RequestContext {
  readonly #call: Call;
  readonly #record: CallRecord;
  readonly #appLog: Log;
  #log: RequestLog | undefined;
  #controller: AbortController | undefined;

  constructor(call: Call, record: CallRecord, log: Log) {
    this.#call = call;
    this.#record = record;
    this.#appLog = log;
  }

  get headers(): AnyRequest['headers'] {
    return this.#call.headers;
  }

  get id(): string {
    return this.#record.id;
  }

  get log(): RequestLog {
    const { id: requestId, traceId, operationId } = this.#record;
    this.#log ??= this.#appLog.child({ requestId, traceId, operationId });
    return this.#log;
  }

  get accepts(): AnyRequest['accepts'] {
    const { headers } = this.#call;
    const accept = headers.accept || undefined;
    return (...types) => new Negotiator({ headers: { accept } }).mediaType([...types]);
  }

  get signal(): AbortSignal {
    this.#controller ??= abortedWith(this.#call.signal);
    return this.#controller.signal;
  }

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
