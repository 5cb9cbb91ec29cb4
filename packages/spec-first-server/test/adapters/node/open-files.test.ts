import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
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
