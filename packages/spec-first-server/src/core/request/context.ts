import Negotiator from 'negotiator';
import type { Call, CallRecord } from '../call.ts';
import type { AnyRequest, Log, RequestLog } from '../handlers/types.ts';
import type { Parameters as ParameterValues } from '../validation/validator.ts';

/**
 * The request of a handler. A class, because V8 stores getters of plain objects in hidden classes:
 * these would keep the whole request in memory until the next major garbage collection.
 */
export class RequestContext implements AnyRequest {
  readonly path: AnyRequest['path'];
  readonly query: AnyRequest['query'];
  readonly header: AnyRequest['header'];
  readonly cookie: AnyRequest['cookie'];
  readonly contentType: AnyRequest['contentType'];
  readonly body: AnyRequest['body'];
  readonly caller: AnyRequest['caller'];
  readonly callers: AnyRequest['callers'];
  readonly headers: AnyRequest['headers'];
  readonly id: string;
  readonly accepts: AnyRequest['accepts'];
  readonly log: RequestLog;
  declare readonly signal: AbortSignal;
  readonly #call: Call;
  #controller: AbortController | undefined;

  constructor(
    call: Call,
    record: CallRecord,
    log: Log,
    parameters: ParameterValues,
    contentType: string | undefined,
    body: unknown,
  ) {
    const { headers } = call;
    this.path = parameters.path;
    this.query = parameters.query;
    this.header = parameters.header;
    this.cookie = parameters.cookie;
    this.contentType = contentType;
    this.body = body;
    this.caller = record.caller;
    this.callers = record.callers;
    this.headers = headers;
    this.id = record.id;
    this.accepts = (...types) =>
      new Negotiator({ headers: { accept: headers.accept || undefined } }).mediaType([...types]);
    this.log = new CallLog(record, log);
    this.#call = call;
    // Created on its first use. A property of the instance, since `{ ...request }` copies only
    // these.
    Object.defineProperty(this, 'signal', RequestContext.#signalGetter);
  }

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

/** A log whose lines have the ids of a call. Most calls log nothing. */
class CallLog implements RequestLog {
  readonly #record: CallRecord;
  readonly #log: Log;
  #child: RequestLog | undefined;

  constructor(record: CallRecord, log: Log) {
    this.#record = record;
    this.#log = log;
  }

  debug(...line: Parameters<RequestLog['debug']>): void {
    this.#lines.debug(...line);
  }

  info(...line: Parameters<RequestLog['info']>): void {
    this.#lines.info(...line);
  }

  warn(...line: Parameters<RequestLog['warn']>): void {
    this.#lines.warn(...line);
  }

  error(...line: Parameters<RequestLog['error']>): void {
    this.#lines.error(...line);
  }

  get #lines(): RequestLog {
    const { id: requestId, traceId, operationId } = this.#record;
    this.#child ??= this.#log.child({ requestId, traceId, operationId });
    return this.#child;
  }
}

function abortedWith(signal: AbortSignal | undefined): AbortController {
  const controller = new AbortController();
  if (signal?.aborted) controller.abort();
  else signal?.addEventListener('abort', () => controller.abort());
  return controller;
}
