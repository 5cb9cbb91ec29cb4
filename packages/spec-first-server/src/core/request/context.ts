import Negotiator from 'negotiator';
import type { Call, CallRecord } from '../call.ts';
import type { AnyRequest, Log, RequestLog } from '../handlers/types.ts';
import type { Parameters as ParameterValues } from '../validation/validator.ts';

/** Matches a parameter of a media type, and captures its name. */
const PARAMETER = /;\s*([^\s=;,]+)=("[^"]*"|[^\s;,]*)/g;

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
  declare readonly log: RequestLog;
  declare readonly signal: AbortSignal;
  readonly #call: Call;
  readonly #record: CallRecord;
  readonly #log: Log;
  #requestLog: RequestLog | undefined;
  #controller: AbortController | undefined;
  #signal: AbortSignal | undefined;

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
    this.accepts = (...types) => {
      // Parameters that no type has, such as `charset`, exclude none of them.
      const accept = headers.accept?.replace(PARAMETER, (parameter, name: string) =>
        name.toLowerCase() === 'q' || types.some((type) => type.includes(`${name}=`))
          ? parameter
          : '',
      );
      return new Negotiator({ headers: { accept: accept || undefined } }).mediaType([...types]);
    };
    this.#call = call;
    this.#record = record;
    this.#log = log;
    // Created on their first use, unless `around` sets them. Properties of the instance, since
    // `{ ...request }` copies only these.
    Object.defineProperty(this, 'log', RequestContext.#logGetter);
    Object.defineProperty(this, 'signal', RequestContext.#signalGetter);
  }

  static readonly #logGetter = {
    enumerable: true,
    get(this: RequestContext): RequestLog {
      const { id: requestId, traceId, operationId } = this.#record;
      this.#requestLog ??= this.#log.child({ requestId, traceId, operationId });
      return this.#requestLog;
    },
    set(this: RequestContext, log: RequestLog) {
      this.#requestLog = log;
    },
  };

  static readonly #signalGetter = {
    enumerable: true,
    get(this: RequestContext): AbortSignal {
      this.#controller ??= abortedWith(this.#call.signal);
      this.#signal ??= this.#controller.signal;
      return this.#signal;
    },
    set(this: RequestContext, signal: AbortSignal) {
      this.#signal = signal;
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
