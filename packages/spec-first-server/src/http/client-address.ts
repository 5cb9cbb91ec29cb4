import type { IncomingMessage } from 'node:http';
import proxyAddress from 'proxy-addr';

/** A value of Express's setting `trust proxy`: all proxies, so many hops, or those of these addresses. */
export type TrustProxy = boolean | number | readonly string[];

/** Finds a client's address: that of the connection, or what trusted proxies tell in `X-Forwarded-For`. */
export function clientAddress(trusted: TrustProxy): (request: IncomingMessage) => string | undefined {
  if (trusted === false) return ({ socket }) => socket.remoteAddress;
  const trust = trustOf(trusted);
  return (request) => proxyAddress(request, trust);
}

function trustOf(trusted: Exclude<TrustProxy, false>): (address: string, hop: number) => boolean {
  if (trusted === true) return () => true;
  return typeof trusted === 'number' ? (_address, hop) => hop < trusted : proxyAddress.compile([...trusted]);
}
