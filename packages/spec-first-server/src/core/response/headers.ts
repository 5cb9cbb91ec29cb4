import helmet from 'helmet';
import type { HeaderValues } from '../../http/failures.ts';

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers that frame a message: only the server sets them (RFC 9112 §6, RFC 9110 §7.6.1). */
export const FRAMING_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Returns true if a header can be sent (RFC 9110 §5.1, §5.5). */
export function isHeader(name: string, value: HeaderValues[string]): boolean {
  if (!NAME.test(name)) return false;
  return typeof value === 'object'
    ? value.every((line) => VALUE.test(line))
    : VALUE.test(String(value));
}

/**
 * Helmet's headers for a JSON service, by name. None requires HTTPS: the service may be reachable
 * by plain HTTP only.
 */
export const SECURITY_HEADERS: ReadonlyMap<string, string> = headersOf(
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    strictTransportSecurity: false,
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  }),
);

/** The headers of responses that the server sets, so that a handler does not have to. */
export const SERVER_HEADERS: ReadonlySet<string> = new Set([
  ...FRAMING_HEADERS,
  ...SECURITY_HEADERS.keys().map((name) => name.toLowerCase()),
  ...['date', 'deprecation', 'sunset', 'x-request-id'],
]);

/** Runs a middleware once. Its headers must be the same for each response. */
function headersOf(middleware: ReturnType<typeof helmet>): Map<string, string> {
  const headers = new Map<string, string>();
  const response = {
    setHeader: (name: string, value: string) => headers.set(name, value),
    removeHeader() {},
  };
  Reflect.apply(middleware, undefined, [{}, response, () => {}]);
  return headers;
}
