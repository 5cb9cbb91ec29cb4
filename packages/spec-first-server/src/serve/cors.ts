import cors from 'cors';
import type { Operation } from 'openapi-document';
import type { Call } from '../core/call.ts';

/**
 * Response headers that the service sets, and that browsers hide from pages of other origins by
 * default.
 */
const SERVICE_HEADERS = [
  'x-request-id',
  'www-authenticate',
  'retry-after',
  'allow',
  'accept',
  'etag',
];

/** The time that a browser may cache the response to a preflight, in seconds. */
const MAX_AGE = 600;

/** Returns true for a preflight of CORS, which must not reach an operation. */
export const isPreflight = ({ method, headers }: Call): boolean =>
  method === 'OPTIONS' && 'access-control-request-method' in headers;

/**
 * Returns the function that returns the response headers of CORS
 * (https://fetch.spec.whatwg.org/#http-cors-protocol). Scripts of other origins can read each
 * header that the document declares. Browsers may send cookies if the origins are listed, not for
 * `*`.
 */
export function crossOrigin(origins: '*' | readonly string[], operations: readonly Operation[]) {
  const declared = operations.flatMap(({ responses }) =>
    responses.flatMap(({ headers }) => headers),
  );
  const names = [...SERVICE_HEADERS, ...declared.map(({ name }) => name)];
  const middleware = cors({
    origin: origins === '*' ? '*' : [...origins],
    credentials: origins !== '*',
    methods: [...new Set(operations.map(({ method }) => method.toUpperCase()))],
    exposedHeaders: [...new Set(names)],
    maxAge: MAX_AGE,
  });

  return (call: Call): Readonly<Record<string, string>> => {
    const headers: Record<string, string> = {};
    const response = {
      getHeader: (name: string) => headers[name],
      setHeader(name: string, value: string) {
        headers[name] = value;
      },
      end() {},
    };
    // The middleware treats each OPTIONS request as a preflight.
    const request = { method: isPreflight(call) ? 'OPTIONS' : 'GET', headers: call.headers };
    middleware(request, response, () => {});
    return headers;
  };
}
