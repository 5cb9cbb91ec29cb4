import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';
import { traceOf } from './trace.ts';

const { IncomingMessage, ServerResponse: Outgoing } = process.getBuiltinModule('node:http');

/**
 * Helmet's headers for a service of JSON, without those that only concern pages, downloads in old browsers and Flash.
 * Nothing here asks a browser for HTTPS, which a service over plain HTTP cannot give.
 */
export const securityHeaders = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  strictTransportSecurity: false,
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

// They are the same for all responses.
const blank = new Outgoing(new IncomingMessage(new Socket()));
securityHeaders(blank.req, blank, () => undefined);
const written = blank.getHeaderNames().flatMap((name) => [name, String(blank.getHeader(name))]);

/** The headers that each answer has: names and values in turn. */
export const ownHeaders = (response: ServerResponse): string[] => [...written, 'X-Request-Id', traceOf(response).id];

/** Sets the headers that each answer has. */
export function setOwnHeaders(response: ServerResponse): void {
  const own = ownHeaders(response);
  for (let at = 0; at < own.length; at += 2) response.setHeader(own[at] ?? '', own[at + 1] ?? '');
}
