import type { Request, RequestHandler, Response } from 'express';
import { stringifyJson } from 'openapi-document';
import type { Answer, Bytes } from '../core/call.ts';
import { SECURITY_HEADERS } from '../core/response/headers.ts';
import type { HttpError } from '../core/response/http-error.ts';
import type { Route } from '../core/router.ts';
import type { Service } from '../core/service.ts';
import { hasBody } from '../http/request-body.ts';
import { NodeCall, validAddress } from './node/node-call.ts';
import { requestError } from './node/node-listener.ts';

/**
 * Connects a service to an Express app. A path that the document does not have goes to the next
 * handler. A mount path such as `/v1` replaces the base path in `servers`. If the option `missing`
 * of the service is `next`, the service handles only requests to operations that have a handler.
 *
 * @example
 * app.use('/v1', expressHandler(service));
 */
export function expressHandler(service: Service): RequestHandler {
  return (request, response, next) => {
    const { method, url } = request;
    const isMounted = request.baseUrl !== '';
    const error = requestError(request, response);
    const [path = ''] = request.url.split('?', 1);
    const route = service.find({ method, path, isMounted });
    if (route === undefined) {
      // Express computes the URL for the next handler from this one. `requestError` may change it.
      request.url = url;
      return next();
    }
    const call = new ExpressCall(request, response, service);
    respond(service, call, error, route).catch(next);
  };
}

/**
 * Writes the answer to a call after all middleware.
 *
 * @param error the error of a request that has failed before it reached the service.
 */
export async function respond(
  service: Service,
  call: ExpressCall,
  error?: unknown,
  route?: Route | HttpError,
): Promise<void> {
  const { record } = call;
  call.readRequest();
  const answer =
    error === undefined
      ? await service.handle(call, record, route)
      : service.fail(call, record, error);
  await call.write(answer);
}

/** A request of Express. A parser may have read its body. */
export class ExpressCall extends NodeCall {
  declare readonly request: Request;
  declare readonly response: Response;
  #isRead = false;
  #parsed: Bytes | undefined;

  constructor(request: Request, response: Response, service: Pick<Service, 'begin' | 'end'>) {
    super(request, response, validAddress(request.ip, request), service);
  }

  /** Reads what middleware may have changed: the method, the URL and the body. */
  readRequest(): void {
    const { request } = this;
    this.readTarget();
    // Without a body, express.json() may set an empty object.
    this.#isRead = request.readableEnded && hasBody(request);
    this.#parsed = this.#isRead ? parsedBody(request) : undefined;
    // The parser has decompressed the body.
    if (this.#parsed !== undefined) delete request.headers['content-encoding'];
  }

  /** @throws {Error} if middleware has read the body, and its bytes or digits are lost. */
  override get body(): NodeCall['body'] {
    if (this.#parsed !== undefined) return this.#parsed;
    if (this.#isRead) throw new Error(BODY_LOST);
    return super.body;
  }

  /** Keeps a header that the app has set, if the answer has no header of the same name. */
  override write({ status, headers, body }: Answer): Promise<void> | undefined {
    const { response } = this;
    if (response.headersSent) response.destroy();
    else addHeaders(response, headers);
    return super.write({ status, headers: [], body });
  }
}

const BODY_LOST =
  'other middleware has read the body, such as express.urlencoded(), or has rounded its numbers, ' +
  'as express.json() does: mount it after expressHandler, or for other paths only';

/**
 * Returns the bytes of a body that middleware has read; `undefined` if they cannot be restored. A
 * value is written as JSON again, unless it has an integer that may have been rounded.
 */
function parsedBody({ body, headers }: Request): Bytes | undefined {
  if (body instanceof Uint8Array) return body;
  if (typeof body === 'string') return Buffer.from(body);
  const isForm = /^(multipart\/|application\/x-www-form-urlencoded)/i.test(
    headers['content-type'] ?? '',
  );
  return body === undefined || isForm || hasLargeInteger(body)
    ? undefined
    : Buffer.from(stringifyJson(body) ?? '');
}

/** Default security headers do not replace those that the app has set. */
export function addHeaders(response: Response, headers: readonly string[]): void {
  const added = new Set(['set-cookie']);
  for (let index = 0; index < headers.length; index += 2) {
    const [name = '', value = ''] = headers.slice(index, index + 2);
    const isDefault = SECURITY_HEADERS.get(name) === value;
    if (isDefault && response.hasHeader(name)) continue;
    if (name.toLowerCase() === 'vary') response.vary(value);
    else if (added.has(name.toLowerCase())) response.appendHeader(name, value);
    else response.setHeader(name, value);
    added.add(name.toLowerCase());
  }
}

/** Returns true if a value has an integer beyond 2^53, which `JSON.parse` may have rounded. */
function hasLargeInteger(body: unknown): boolean {
  const values = [body];
  // The list grows while it is read.
  for (const value of values) {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) return true;
    if (typeof value === 'object' && value !== null)
      for (const member of Object.values(value)) values.push(member);
  }
  return false;
}
