import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { freePort } from 'test-support/free-port';
import { exchange, request } from 'test-support/raw-http';
import { sendPooled } from 'test-support/uploads';
import { type Service, serve, TOKEN } from './support/plant-service.ts';

/** Returns the configuration of a proxy on a port. Its upstreams are the other ports. */
type Configure = (port: number, upstreams: readonly number[], folder: string) => string;

const nginx =
  (keepAlive: string, location: string): Configure =>
  (port, upstreams, folder) =>
    `
daemon off;
master_process off;
pid ${folder}/pid;
error_log ${folder}/errors;
events {}
http {
  access_log off;
  client_max_body_size 50m;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  upstream plants {
    ${upstreams.map((upstream) => `server 127.0.0.1:${upstream};`).join(' ')}
    ${keepAlive}
  }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://plants; ${location} }
  }
}
`;

const haproxy: Configure = (port, upstreams) => `
defaults
  mode http
  timeout connect 10s
  timeout client 60s
  timeout server 60s
  http-reuse always
listen plants
  bind 127.0.0.1:${port}
${upstreams.map((upstream) => `  server s${upstream} 127.0.0.1:${upstream}\n`).join('')}
`;

const PERSISTENT = 'proxy_http_version 1.1; proxy_set_header Connection "";';

const has = (command: string, flag: string): boolean =>
  spawnSync(command, [flag]).error === undefined;
const hasNginx = has('nginx', '-v');
const hasHaproxy = has('haproxy', '-v');

describe.each([
  ['nginx, HTTP/1.0', hasNginx, nginx('', ''), 'nginx', '-c'],
  ['nginx, HTTP/1.1', hasNginx, nginx('keepalive 32;', PERSISTENT), 'nginx', '-c'],
  ['HAProxy', hasHaproxy, haproxy, 'haproxy', '-f'],
] as const)('behind %s', (_name, isInstalled, configure, command, flag) => {
  const testIfInstalled = isInstalled ? test : test.skip;
  const services: Service[] = [];
  let folder: string;
  let proxy: ChildProcess;
  let port: number;

  beforeAll(async () => {
    if (!isInstalled) return;
    services.push(await serve(), await serve());
    port = await freePort();
    folder = mkdtempSync(join(tmpdir(), 'proxy-'));
    const file = join(folder, 'configuration');
    const upstreams = services.map((service) => service.port);
    writeFileSync(file, configure(port, upstreams, folder));
    proxy = spawn(command, [flag, file], { stdio: 'ignore' });
    await eventually(async () => {
      const { responses } = await exchange(port, request('GET /healthz'));
      return responses[0]?.status === 200;
    });
  });
  afterAll(async () => {
    if (!isInstalled) return;
    const exit = once(proxy, 'exit');
    proxy.kill();
    await exit;
    rmSync(folder, { recursive: true });
    await Promise.all(services.map((service) => service.stop()));
  });

  const JSON_TYPE = { 'Content-Type': 'application/json' };
  const AUTHORIZED = { ...JSON_TYPE, Authorization: `Bearer ${TOKEN}` };
  const upload = (headers: Readonly<Record<string, string>>, size: number) => ({
    path: '/plants',
    headers,
    body: Buffer.alloc(size, ' '),
  });

  testIfInstalled(
    `each response to a large body reaches the client (needs ${command})`,
    async () => {
      const tooLarge = Array(2).fill(upload(AUTHORIZED, 20e6));
      const withoutToken = Array(2).fill(upload(JSON_TYPE, 5e6));
      const counts = await sendPooled(port, [...tooLarge, ...withoutToken]);
      expect(counts).toEqual({ 401: 2, 413: 2 });
    },
  );

  testIfInstalled(
    `no other request fails beside bodies that are too large (needs ${command})`,
    async () => {
      const requests = Array.from({ length: 300 }, (_, index) =>
        index % 10 === 9
          ? upload(AUTHORIZED, 150_000)
          : {
              path: '/plants',
              headers: AUTHORIZED,
              body: JSON.stringify({ id: index, name: 'a' }),
            },
      );
      expect(await sendPooled(port, requests)).toEqual({ 200: 270, 413: 30 });
    },
  );
});
