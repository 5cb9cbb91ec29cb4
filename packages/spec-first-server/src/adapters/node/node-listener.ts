import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { HttpError } from '../../core/response/http-error.ts';
import type { Service } from '../../core/service.ts';
import { requestFailure } from '../../http/failures.ts';
import { joinPieces } from '../../http/node-internals.ts';
import { hasBody } from '../../http/request-body.ts';
import { clientAddress, NodeCall, type TrustProxy } from './node-call.ts';

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
  requestListener(service, options, requestError);

/**
 * Does what `listen` does for each request of its server: joins small pieces of the body, and
 * returns the error of a request that a service must not handle. The connection then closes, since
 * its bytes may contain another request.
 */
export function requestError(
  request: IncomingMessage,
  response: ServerResponse,
): HttpError | undefined {
  joinPieces(request);
  const failure = requestFailure(request);
  if (failure === undefined) return undefined;
  response.setHeader('Connection', 'close');
  return HttpError.of(failure);
}

/**
 * Connects a service to a server.
 *
 * @param errorIn by default none, for a server of `listen`, which rejects faulty requests itself.
 */
export function requestListener(
  service: Service,
  { trustProxy }: NodeOptions,
  errorIn?: typeof requestError,
): RequestListener {
  const addressOf = clientAddress(trustProxy);
  return (request, response) => {
    const error = errorIn?.(request, response);
    const call = new NodeCall(request, response, addressOf(request), service);
    if (error === undefined && !request.complete && hasBody(request)) {
      // Node parses the body after this listener returns, even if it arrived with the headers. One
      // round later, such a body is complete and can be read without a stream.
      setImmediate(respond, service, call);
      return;
    }
    void respond(service, call, error);
  };
}

async function respond(service: Service, call: NodeCall, requestError?: HttpError): Promise<void> {
  const { record, response } = call;
  try {
    const answer =
      requestError === undefined
        ? await service.handle(call, record)
        : service.fail(call, record, requestError);
    const writing = call.write(answer);
    if (writing !== undefined) await writing;
  } catch (error) {
    // Records the failure for the log. The response has started and cannot be replaced.
    service.fail(call, record, error);
    response.destroy();
  }
}
