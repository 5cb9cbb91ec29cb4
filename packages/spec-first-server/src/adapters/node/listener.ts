import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { CallEnd } from '../../core/call.ts';
import { HttpError } from '../../core/response/http-error.ts';
import type { Problem } from '../../core/response/problem.ts';
import type { Service } from '../../core/service.ts';
import { clientAddress, type TrustProxy } from './client-address.ts';
import { faultOf } from './faults.ts';
import { CUT_OFF } from './listen.ts';
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
export function nodeListener(service: Service, options: NodeOptions = {}): RequestListener {
  const addressOf = clientAddress(options.trustProxy);
  return (request, response) => {
    const fault = faultOf(request);
    const call = startCall(service, request, response, addressOf);
    if (fault === undefined) return void answer(service, call);
    // The bytes of a faulty request may contain another request.
    response.setHeader('Connection', 'close');
    void writeAnswer(response, service.fail(call, new HttpError(fault.status, fault.message)));
  };
}

/** Connects a service to a server of `listen`, which rejects faulty requests itself. */
export function serviceListener(service: Service, options: NodeOptions): RequestListener {
  const addressOf = clientAddress(options.trustProxy);
  return (request, response) =>
    void answer(service, startCall(service, request, response, addressOf));
}

function startCall(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  addressOf: (request: IncomingMessage) => string | undefined,
): NodeCall {
  const call = new NodeCall(request, response, addressOf(request));
  // `once` would create a wrapper, which costs more than the listener.
  response.on('close', () => service.end(call, endOf(response)));
  return call;
}

async function answer(service: Service, call: NodeCall): Promise<void> {
  const { response } = call;
  try {
    await writeAnswer(response, await service.handle(call));
  } catch (error) {
    // Records the failure for the log. The response has started and cannot be replaced.
    service.fail(call, error);
    response.destroy();
  }
}

/** The requests that the server rejected, until their responses are closed. */
const rejections = new WeakMap<ServerResponse, Problem>();

/** Records that the server rejects a request. The service may already have it. */
export function noteRejection(response: ServerResponse, problem: Problem): void {
  rejections.set(response, problem);
}

/** Returns the rejection of a request, and removes it. */
export function takeRejection(response: ServerResponse): Problem | undefined {
  const problem = rejections.get(response);
  if (problem !== undefined) rejections.delete(response);
  return problem;
}

/** Returns the end of a call whose response is closed. */
export function endOf(response: ServerResponse): CallEnd {
  const { headersSent, req: request, statusCode, writableFinished: isComplete } = response;
  const isStopped = !isComplete && request.socket.errored === CUT_OFF;
  const problem = isStopped ? { status: 503, message: CUT_OFF.message } : takeRejection(response);
  const failure = problem && new HttpError(problem.status, problem.message);
  const unsent = isStopped ? 503 : 499;
  return { status: headersSent ? statusCode : unsent, isComplete, failure };
}
