import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { connected } from 'test-support/raw-http';
import { limitConnections } from '../../../src/adapters/node/open-files.ts';

const testOnLinux = process.platform === 'linux' ? test : test.skip;

describe('limitConnections', () => {
  testOnLinux('keeps 64 of the open files for other purposes', () => {
    const server = createServer();
    limitConnections(server);
    const [, limit] =
      /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    expect(server.maxConnections).toBe(Number(limit) - 64);
  });

  testOnLinux('reports dropped connections at most once a second, with their number', async () => {
    const server = createServer();
    const counts: number[] = [];
    limitConnections(server, (count) => counts.push(count));
    const start = performance.now();
    for (let count = 0; count < 3; count += 1) server.emit('drop');
    expect(counts).toEqual([]);
    await eventually(() => counts.length === 1);
    expect(performance.now() - start).toBeGreaterThan(990);
    expect(counts).toEqual([3]);
    server.emit('drop');
    await eventually(() => counts.length === 2);
    expect(counts).toEqual([3, 1]);
  });

  testOnLinux('does not need a callback', () => {
    const server = createServer();
    limitConnections(server);
    server.emit('drop');
  });
});

testOnLinux('connections beyond the limit of open files are dropped and counted', async () => {
  const program = `
    import { listen } from '${new URL('../../../src/adapters/node/listen.ts', import.meta.url)}';
    const { url } = await listen((_request, response) => void response.end(), {
      host: '127.0.0.1', port: 0, onDropped: (count) => console.log('dropped', count),
    });
    console.log('url', url);
  `;
  const child = spawn(
    'sh',
    ['-c', 'ulimit -n 400; exec "$0" --input-type=module -e "$1"', process.execPath, program],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await eventually(() => output.includes('url'));
  const at = Number(new URL(output.split(/\s+/)[1] ?? '').port);
  const sockets = await Promise.all(Array.from({ length: 420 }, () => connected(at)));
  await eventually(() => output.includes('dropped'));
  expect(output).toContain(`dropped ${420 - (400 - 64)}`);
  for (const socket of sockets) socket.destroy();
  child.kill();
});
