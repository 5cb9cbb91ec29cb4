/**
 * A module to preload. Each attempt to open a connection or to look up a name fails, and is written
 * to the file NETWORK_LOG.
 */
import dns from 'node:dns';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isIP, Socket } from 'node:net';

function deny(what, target) {
  appendFileSync(
    process.env.NETWORK_LOG,
    `${what} ${JSON.stringify(target)} by ${process.argv.join(' ')}\n`,
  );
  throw new Error(`no ${what} in this test`);
}

Socket.prototype.connect = (target) => deny('connect', target);

const { lookup } = dns;
// A server that listens on an address looks it up, too: that needs no network.
dns.lookup = (name, ...rest) => (isIP(name) ? lookup(name, ...rest) : deny('lookup', name));
dns.promises.lookup = async (name) => deny('lookup', name);
syncBuiltinESMExports();
