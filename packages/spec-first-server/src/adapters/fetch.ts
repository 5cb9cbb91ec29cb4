import type { Answer, Bytes, Call } from '../core/call.ts';
import { closeItems } from '../core/response/item-body.ts';
import type { Service } from '../core/service.ts';

/** A function from a Request of the Fetch standard to its Response. */
export type FetchHandler<Context extends readonly unknown[]> = (
  request: Request,
  ...context: Context
) => Promise<Response>;

/** The options of `fetchHandler`. */
export interface FetchOptions<Context extends readonly unknown[]> {
  /** Returns the client's address, from the arguments of the platform. */
  readonly client?: (request: Request, ...context: Context) => string | undefined;
}

/**
 * Connects a service to a platform that calls a function with a Request, such as Bun, Deno or a
 * worker.
 *
 * @example
 * export default { fetch: fetchHandler(service) };
 */
export function fetchHandler<Context extends readonly unknown[]>(
  service: Service,
  { client }: FetchOptions<Context> = {},
): FetchHandler<Context> {
  return async (request, ...context) => {
    const { pathname, search } = new URL(request.url);
    const call: Call = {
      method: request.method,
      path: pathname,
      query: search.slice(1),
      headers: Object.fromEntries(request.headers),
      body: request.body === null ? undefined : chunksOf(request.body),
      client: client?.(request, ...context),
      signal: request.signal,
    };
    const record = service.begin(call);
    const answer = await service.handle(call, record);
    const hasDisconnected = call.signal?.aborted === true;
    const status = hasDisconnected ? 499 : answer.status;
    const response = toResponse(answer, (isComplete) =>
      service.end(call, record, { status, isComplete: isComplete && !hasDisconnected }),
    );
    if (!hasDisconnected) return response;
    // A platform may drop the response without closing its stream.
    await response.body?.cancel();
    return new Response(null, { status });
  };
}

/**
 * Does not cancel a body that is not read to its end: to cancel the body of a form that was created
 * in this process, Node rejects a promise that nothing handles.
 */
const chunksOf = (body: ReadableStream<Bytes>): AsyncIterable<Bytes> => ({
  [Symbol.asyncIterator]: () => body.values({ preventCancel: true }),
});

/** @param onEnd called when a stream ends, fails or is cancelled; immediately for other bodies. */
function toResponse(
  { status, headers: flatHeaders, body }: Answer,
  onEnd: (isComplete: boolean) => void,
): Response {
  const headers = new Headers();
  for (let index = 0; index < flatHeaders.length; index += 2) {
    headers.append(flatHeaders[index] ?? '', flatHeaders[index + 1] ?? '');
  }
  if (typeof body === 'object' && !(body instanceof Uint8Array)) {
    return new Response(streamOf(body, onEnd), { status, headers });
  }
  onEnd(true);
  return new Response(body?.slice(), { status, headers });
}

function streamOf(
  body: AsyncIterable<string | Uint8Array>,
  onEnd: (isComplete: boolean) => void,
): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let isCancelled = false;
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (isCancelled) return;
        if (done) {
          controller.close();
          return onEnd(true);
        }
        controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value);
      } catch (error) {
        if (!isCancelled) onEnd(false);
        throw error;
      }
    },
    cancel() {
      isCancelled = true;
      onEnd(false);
      closeItems(body, chunks);
    },
  });
}
