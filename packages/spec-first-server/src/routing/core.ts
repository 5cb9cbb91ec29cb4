import type { IncomingMessage, ServerResponse } from 'node:http';
import type { crossOrigin } from '../http/cors.ts';
import { targetOf } from '../http/target.ts';
import type { Tracing } from '../http/tracing.ts';
import { answerFailure } from '../response/failures.ts';
import { HttpError } from '../response/http-error.ts';
import { type AppContext, createDispatch, type Dispatch } from './dispatch.ts';
import type { FindRoute } from './router.ts';

/** Answers a request, if it is for an operation. Resolves to whether it was. */
export type Core = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

const TAKEN = Promise.resolve(true);
const NOT_TAKEN = Promise.resolve(false);

/** What the core asks before an operation. */
interface CoreOptions {
  readonly cors: ReturnType<typeof crossOrigin> | undefined;
  readonly tracing: Tracing | undefined;
}

/** Routes each request to its operation. Operations are prepared when they are first asked for. */
export function createCore(route: FindRoute, context: AppContext, { cors, tracing }: CoreOptions): Core {
  const dispatches = new Map<string, Dispatch>();
  const reject = async (response: ServerResponse, error: HttpError): Promise<true> => {
    await answerFailure(response, error, context.errorBody);
    return true;
  };
  return (request, response) => {
    if (cors?.(request, response) === true) return TAKEN;
    const { method = '' } = request;
    const [path, query] = targetOf(request.url);
    const found = route(method, path);
    if (found.found === 'nothing') return NOT_TAKEN;
    if (found.found === 'malformed') {
      return reject(response, new HttpError(400, 'the path is not percent-encoded (RFC 3986 §2.1)'));
    }
    if (found.found === 'path') return reject(response, HttpError.notAllowed(method, found.allow));
    const { operation, basePath } = found;
    tracing?.name(method, basePath + operation.path, operation.id);
    let dispatch = dispatches.get(operation.id);
    if (dispatch === undefined) {
      dispatch = createDispatch(operation, context);
      dispatches.set(operation.id, dispatch);
    }
    return dispatch(request, response, path.slice(basePath.length), query);
  };
}
