import type { IncomingMessage, ServerResponse } from 'node:http';
import cors from 'cors';
import type { Operation } from 'openapi-document';

/** Response headers that the service sets, and that browsers hide from pages of other origins by default. */
const OWN_HEADERS = ['x-request-id', 'www-authenticate', 'retry-after', 'allow', 'accept', 'etag'];

/** How long a browser may keep the answer to a preflight. Seconds. */
const MAX_AGE = 600;

/**
 * Lets pages of other origins call (https://fetch.spec.whatwg.org/#http-cors-protocol). Their scripts see each header
 * that the document declares. Browsers may send cookies to a list of origins, never to `*`. The function returns whether
 * it has answered the request, which was a preflight then.
 */
export function crossOrigin(origins: '*' | readonly string[], operations: readonly Operation[]) {
  const declared = operations.flatMap(({ responses }) => responses.flatMap(({ headers }) => headers));
  const names = [...OWN_HEADERS, ...declared.map(({ name }) => name)];
  const options = {
    origin: origins === '*' ? '*' : [...origins],
    credentials: origins !== '*',
    methods: [...new Set(operations.map(({ method }) => method.toUpperCase()))],
    exposedHeaders: [...new Set(names)],
    maxAge: MAX_AGE,
  };
  const preflight = cors(options);
  const other = cors({ ...options, preflightContinue: true });
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    let isAnswered = true;
    const answer = 'access-control-request-method' in request.headers ? preflight : other;
    answer(request, response, () => {
      isAnswered = false;
    });
    return isAnswered;
  };
}
