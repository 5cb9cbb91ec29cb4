import type { IncomingMessage, RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A request of a service under test. */
export interface Received {
  readonly path: string;
  readonly ids: readonly string[];
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
  /** The parsed JSON of the body; `undefined` if it is not JSON. */
  readonly json: unknown;
}

export interface Sent {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly body?: unknown;
}

type Route = (request: Received) => Sent;

/** The routes of a service by method and path, such as `GET /notes/{}`. */
export type Routes = Readonly<Record<string, Route>>;

export const failure = (status: number, message = 'no'): Sent => ({ status, body: { message } });

const jsonOf = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(String(bytes));
  } catch {
    return undefined;
  }
};

/** Serves routes on plain `node:http`: it knows no OpenAPI document. */
export function listenerOf(routes: Routes): RequestListener {
  const patterns = Object.entries(routes).map(([name, route]) => {
    const [method, path = ''] = name.split(' ');
    const pattern = new RegExp(`^${path.replaceAll('{}', '([^/]+)')}$`);
    return { method, pattern, route };
  });
  return async (request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://localhost');
    const bytes = await buffer(request);
    const matching = patterns.filter(({ pattern }) => pattern.test(pathname));
    const found = matching.find(({ method }) => method === request.method);
    const ids = found?.pattern.exec(pathname)?.slice(1).map(decodeURIComponent) ?? [];
    const { headers } = request;
    const answer =
      found?.route({ path: pathname, ids, query, headers, bytes, json: jsonOf(bytes) }) ??
      failure(matching.length > 0 ? 405 : 404);
    const { status, body, type = 'application/json' } = answer;
    if (body === undefined) return void response.writeHead(status, answer.headers).end();
    response.writeHead(status, { 'Content-Type': type, ...answer.headers });
    response.end(
      body instanceof Uint8Array || typeof body === 'string' ? body : JSON.stringify(body),
    );
  };
}
