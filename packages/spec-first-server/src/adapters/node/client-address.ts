import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddress from 'proxy-addr';

/**
 * The proxies whose `X-Forwarded-For` is trusted, as in Express: all, a number of hops, or those
 * with these addresses.
 */
export type TrustProxy = boolean | number | readonly string[];

/** Returns a function that returns the address of the client of a request. */
export function clientAddress(
  trustProxy: TrustProxy = false,
): (request: IncomingMessage) => string | undefined {
  if (trustProxy === false) return (request) => request.socket.remoteAddress;
  const trusts = trustOf(trustProxy);
  return (request) => validAddress(proxyAddress(request, trusts), request);
}

/**
 * Returns the forwarded address if it is valid, or else the address of the socket: a proxy may pass
 * on any text of a client.
 */
export function validAddress(
  forwarded: string | undefined,
  { socket }: IncomingMessage,
): string | undefined {
  return forwarded !== undefined && isIP(forwarded) !== 0 ? forwarded : socket.remoteAddress;
}

function trustOf(trustProxy: TrustProxy): (address: string, hop: number) => boolean {
  if (typeof trustProxy === 'boolean') return () => trustProxy;
  if (typeof trustProxy === 'number') return (_address, hop) => hop < trustProxy;
  return proxyAddress.compile([...trustProxy]);
}
