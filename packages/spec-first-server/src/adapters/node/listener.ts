import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { CallEnd, CallRecord } from '../../core/call.ts';
import type { HttpError } from '../../core/response/http-error.ts';
import type { Service } from '../../core/service.ts';
import { faultOf } from '../../listener/faults.ts';
import { CUT_OFF, rejectionOf } from '../../listener/rejected.ts';
import { hasBody } from '../../listener/request-body.ts';
import { clientAddress, type TrustProxy } from './client-address.ts';
import { NodeCall } from './node-call.ts';
import { writeAnswer } from './write-answer.ts';

export interface NodeOptions {
  /** The proxies whose `X-Forwarded-For` is trusted. By default none. */
  readonly trustProxy?: TrustProxy;
}

/**
 * Connects a service to Node's HTTP server.
 *
 * @example
 * createServer(nodeListener(service)).listen(3000);
 */
export const nodeListener = (service: Service, options: NodeOptions = {}): RequestListener =>
  listener(service, options, faultOf);

/** Connects a service to a server of `listen`, which rejects faulty requests itself. */
export const serviceListener = (service: Service, options: NodeOptions): RequestListener =>
  listener(service, options, () => undefined);

function listener(
  service: Service,
  { trustProxy }: NodeOptions,
  faultIn: (request: IncomingMessage) => HttpError | undefined,
): RequestListener {
  const addressOf = clientAddress(trustProxy);
  return (request, response) => {
    const fault = faultIn(request);
    const call = new NodeCall(request, response, addressOf(request));
    const record = service.begin(call);
    call.account = record.account;
    watchEnd(service, call, record, fault);
    if (fault === undefined && hasBody(request) && !request.complete) {
      // Node parses the body after this listener returns, even if it arrived with the headers. One
      // round later, such a body is complete and can be read without a stream.
      setImmediate(answer, service, call, record);
      return;
    }
    void answer(service, call, record, fault);
  };
}

/**
 * Reports the end of a call when its response closes. Closes the connection of a faulty request,
 * since its bytes may contain another request.
 */
export function watchEnd(
  service: Service,
  call: NodeCall,
  record: CallRecord,
  fault: HttpError | undefined,
): void {
  const { response } = call;
  // `once` would create a wrapper, which costs more than the listener.
  response.on('close', () => service.end(call, record, endOf(response)));
  if (fault !== undefined) response.setHeader('Connection', 'close');
}

async function answer(
  service: Service,
  call: NodeCall,
  record: CallRecord,
  fault?: HttpError,
): Promise<void> {
  const { response } = call;
  try {
    const answered =
      fault === undefined ? await service.handle(call, record) : service.fail(call, record, fault);
    await writeAnswer(response, answered);
  } catch (error) {
    // Records the failure for the log. The response has started and cannot be replaced.
    service.fail(call, record, error);
    response.destroy();
  }
}

/** Returns the end of a call whose response is closed. */
export function endOf(response: ServerResponse): CallEnd {
  const { headersSent, req: request, statusCode, writableFinished: isComplete } = response;
  const isStopped = !isComplete && request.socket.errored === CUT_OFF;
  const failure = isStopped ? CUT_OFF : rejectionOf(response);
  const unsentStatus = isStopped ? CUT_OFF.status : 499;
  return { status: headersSent ? statusCode : unsentStatus, isComplete, failure };
}
