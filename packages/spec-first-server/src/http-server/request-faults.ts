import type { IncomingMessage } from 'node:http';
import type { Problem } from './problem.ts';

/** A host and a port (RFC 3986 §3.2.2); an empty one is allowed (RFC 9112 §3.2). */
const HOST = /^(?:\[[\da-f:.v]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** A target in absolute form, up to its path (RFC 9112 §3.2.2). */
const ORIGIN = /^https?:\/\/([^/?#@]+)(?=[/?#]|$)/i;

/**
 * What is wrong with a request that Node's parser accepts. The target becomes a path with its query: without the origin
 * of an absolute form, and without a fragment, which is never sent (RFC 9110 §7.1).
 */
export function faultOf(request: IncomingMessage): Problem | undefined {
  const { httpVersion, headers, url = '' } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return fault('the version of HTTP must be 1.1 (RFC 9112 §2.3)');
  if (headers.host === undefined ? httpVersion === '1.1' : !HOST.test(headers.host)) {
    return fault('the header host must come once, as host or host:port (RFC 9112 §3.2)');
  }
  if (!url.startsWith('/') && !(url === '*' && request.method === 'OPTIONS')) {
    const [origin = '', host = ''] = ORIGIN.exec(url) ?? [];
    if (origin === '' || !HOST.test(host))
      return fault('the target must be a path or http://host/path (RFC 9112 §3.2)');
    const path = url.slice(origin.length);
    request.url = path.startsWith('/') ? path : `/${path}`;
  }
  // Express would parse such a target in a way that can fail before any of its handlers runs.
  if (url.includes('#')) request.url = request.url?.replace(/#.*/s, '');
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {
    return fault('the transfer coding must be chunked alone, in HTTP/1.1 (RFC 9112 §6.1)');
  }
  return undefined;
}

const fault = (message: string): Problem => ({ status: 400, message });
