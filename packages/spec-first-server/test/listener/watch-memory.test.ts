import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Resources } from '../../src/http/resources.ts';
import { ClientConnection } from '../../src/listener/connection.ts';
import { watchMemory } from '../../src/listener/watch-memory.ts';
import { createRequest, createState } from './support.ts';

const MIB = 1024 ** 2;

const resources = new Resources();

let stop: (() => void) | undefined;
beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  stop?.();
  jest.useRealTimers();
});

/** @param waiting the indexes of the connections that have a pending response. */
function watch(sizes: readonly number[], waiting: readonly number[] = []) {
  const connections = new Map<Duplex, ClientConnection>();
  for (const [index, memory] of sizes.entries()) {
    const socket = new Socket();
    const connection = new ClientConnection(socket, createState());
    const newestResponse = waiting.includes(index) ? createRequest().response : undefined;
    Object.defineProperty(connection, 'estimatedBytes', { value: memory });
    Object.defineProperty(connection, 'newestResponse', { value: newestResponse });
    connections.set(socket, connection);
  }
  const sockets = [...connections.keys()];
  const rejected: [index: number, status: number][] = [];
  stop = watchMemory(connections, resources.memory, ({ socket }, { status }) => {
    const index = sockets.indexOf(socket);
    rejected.push([index, status]);
    connections.delete(socket);
  });
  const destroyed = () => sockets.flatMap(({ destroyed }, index) => (destroyed ? [index] : []));
  return { connections, rejected, destroyed };
}

const equalSizes = (count: number, size: number): number[] => Array(count).fill(size);

test('the largest connections are rejected until the rest fits in the budget', () => {
  // 110 MiB, of which 64 MiB are allowed: 100 connections of 0.5 MiB, one of 20 MiB, one of 40 MiB.
  const sizes = [...equalSizes(98, MIB / 2), 20 * MIB, MIB / 2, 40 * MIB, MIB / 2];
  const { rejected, destroyed } = watch(sizes);
  jest.advanceTimersByTime(100);
  expect(rejected).toEqual([
    [100, 503],
    [98, 503],
  ]);
  expect(destroyed()).toEqual([]);
});

test('a connection with a pending response is destroyed, since a second one cannot be sent', () => {
  const { rejected, destroyed } = watch([...equalSizes(99, 1), 70 * MIB], [99]);
  jest.advanceTimersByTime(100);
  expect(destroyed()).toEqual([99]);
  expect(rejected).toEqual([]);
});

test('of many connections beyond the budget, 50 get a response and the others are destroyed', () => {
  const { rejected, destroyed } = watch(equalSizes(130, 64 * MIB));
  jest.advanceTimersByTime(100);
  expect(rejected).toHaveLength(50);
  expect(destroyed()).toHaveLength(79);
});

test.each([
  ['fewer than 100 connections are never rejected', equalSizes(99, 64 * MIB), 0],
  ['connections that fill the budget exactly are not rejected', equalSizes(128, MIB / 2), 0],
  ['connections are rejected if requests hold part of the budget', equalSizes(128, MIB / 2), MIB],
])('%s', (_name, sizes, held) => {
  expect(resources.memory.reserve(held)).toBe(true);
  const { rejected } = watch(sizes);
  jest.advanceTimersByTime(150);
  expect(rejected).toHaveLength(held === 0 ? 0 : 2);
  resources.memory.reserve(-held);
});

test('connections are checked again and again, until the watch stops', () => {
  const { connections, rejected } = watch(equalSizes(100, MIB / 4));
  jest.advanceTimersByTime(150);
  const large = new Socket();
  const add = () => {
    const connection = new ClientConnection(large, createState());
    Object.defineProperty(connection, 'estimatedBytes', { value: 60 * MIB });
    connections.set(large, connection);
  };
  add();
  jest.advanceTimersByTime(100);
  expect(rejected).toHaveLength(1);
  stop?.();
  add();
  jest.advanceTimersByTime(150);
  expect(rejected).toHaveLength(1);
});
