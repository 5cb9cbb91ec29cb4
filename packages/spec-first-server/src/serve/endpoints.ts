import type { Endpoint, PlainReply } from '../core/call.ts';
import { failureOf } from '../core/response/failures.ts';
import { HttpError } from '../core/response/http-error.ts';

/**
 * Creates the endpoints for health and readiness, and those of each document with its page.
 *
 * @param probes those of {@link createProbes}.
 * @param pages the pages, by the path before `/docs`.
 * @param prefix the path before `/healthz`.
 */
export function operatorEndpoints(
  probes: ReadonlyMap<string, Endpoint>,
  pages: ReadonlyMap<string, ReadonlyMap<string, Endpoint['read']>>,
  prefix: string,
): ReadonlyMap<string, Endpoint> {
  const endpoints = new Map(Array.from(probes, ([path, probe]) => [prefix + path, probe]));
  for (const [pagePrefix, page] of pages) {
    for (const [path, read] of page) endpoints.set(pagePrefix + path, { kind: 'page', read });
    // Relative, so that it works behind a proxy that adds a prefix.
    const read = async () => ({ status: 302, headers: { Location: 'docs' } });
    endpoints.set(`${pagePrefix}/`, { kind: 'page', read });
  }
  return endpoints;
}

/** @param broken returns the ids of the operations that get 501. */
export function createProbes(
  ready: () => Promise<void> = async () => {},
  broken: () => readonly string[] = () => [],
): ReadonlyMap<string, Endpoint> {
  async function readReadiness(): Promise<Partial<PlainReply>> {
    await ready().catch(throwNotReady);
    const notServed = broken();
    return json({ status: 'ready', ...(notServed.length > 0 && { notServed }) });
  }
  return new Map<string, Endpoint>([
    ['/healthz', { kind: 'probe', read: async () => json({ status: 'ok' }) }],
    ['/readyz', { kind: 'probe', read: readReadiness }],
  ]);
}

/** Probes expect a 503. Only the message of an HttpError is for clients. */
function throwNotReady(cause: unknown): never {
  const { expected, headers } = failureOf(cause);
  const message = cause instanceof HttpError ? cause.message : 'the service is not ready';
  throw new HttpError(503, message, { cause, expected, headers });
}

const json = (value: object): Partial<PlainReply> => ({
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
});
