import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** Whether a request names this machine, or an address. Only a name can be made to lead to another host (DNS rebinding). */
export function isLocal({ headers: { host } }: IncomingMessage): boolean {
  const name = host?.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
  return name === undefined || isIP(name) !== 0 || /^(.+\.)?localhost$/i.test(name);
}
