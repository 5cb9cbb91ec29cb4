import type { RequestHandler } from 'express';
import { HttpError } from '../response/http-error.ts';
import { type Dispatch, dispatcher, type Shared } from './dispatch.ts';
import type { FindRoute } from './router.ts';

/** Leads each request for an operation to it. Operations are prepared when they are first asked for. */
export function operationRoutes(route: FindRoute, shared: Shared): RequestHandler {
  const dispatches = new Map<string, Dispatch>();
  return (request, response, next) => {
    const [path, query] = targetOf(request.url);
    const found = route(request.method, path);
    if (found.found === 'nothing') return next();
    if (found.found === 'malformed') throw new HttpError(400, 'the path is not percent-encoded (RFC 3986 §2.1)');
    if (found.found === 'path') throw HttpError.notAllowed(request.method, found.allow);
    const { operation, basePath } = found;
    let dispatch = dispatches.get(operation.id);
    if (dispatch === undefined) {
      dispatch = dispatcher(operation, shared);
      dispatches.set(operation.id, dispatch);
    }
    return dispatch(request, response, path.slice(basePath.length), query);
  };
}

/** The path and the query of a request target, also in absolute form (RFC 9112 §3.2.2), as they were sent. */
function targetOf(url: string): [path: string, query: string] {
  const start = url.startsWith('/') ? 0 : (/^https?:\/\/[^/?#]*/i.exec(url)?.[0].length ?? 0);
  const end = url.indexOf('#', start) < 0 ? url.length : url.indexOf('#', start);
  const mark = url.indexOf('?', start);
  if (mark < 0 || mark > end) return [url.slice(start, end) || '/', ''];
  return [url.slice(start, mark) || '/', url.slice(mark + 1, end)];
}
