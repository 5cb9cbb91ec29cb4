import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddress from 'proxy-addr';

/**
 * The proxies whose `X-Forwarded-For` is trusted, as in Express: `true` for all, `false` for none,
 * a number of hops, or a list of addresses and subnets.
 */
export type TrustProxy = boolean | number | readonly string[];

export function clientAddress(
  trustProxy: TrustProxy = false,
): (request: IncomingMessage) => string | undefined {
  if (trustProxy === false) return (request) => request.socket.remoteAddress;
  const trusts = trustOf(trustProxy);
  return (request) => validAddress(proxyAddress(request, trusts), request);
}

/**
 * Returns the forwarded address if it is valid, or else the address of the socket. A client may
 * send an `X-Forwarded-For` with any text, and proxies may forward it.
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
