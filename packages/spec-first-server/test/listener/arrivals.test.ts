import { Socket } from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { Arrivals } from '../../src/listener/arrivals.ts';

let arrivals = new Arrivals();
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  arrivals = new Arrivals();
});

/** Admits new connections, and waits until all are paused. */
async function admitSockets(count: number): Promise<Socket[]> {
  const added = Array.from({ length: count }, () => new Socket());
  sockets.push(...added);
  for (const socket of added) arrivals.admit(socket);
  await new Promise(process.nextTick);
  return added;
}

const areRead = (connections: readonly Socket[]) => connections.map((socket) => !socket.isPaused());

test('each round of the event loop starts to read one connection, the newest first', async () => {
  const connections = await admitSockets(3);
  expect(areRead(connections)).toEqual([false, false, false]);
  await immediate();
  expect(areRead(connections)).toEqual([false, false, true]);
  await immediate();
  expect(areRead(connections)).toEqual([false, true, true]);
  await immediate();
  expect(areRead(connections)).toEqual([true, true, true]);
});

test('connections that a large first chunk pauses are read after those not read yet', async () => {
  const [first, second, third, fourth] = await admitSockets(4);
  if (!first || !second || !third || !fourth) throw new Error('four sockets');
  const connections = [first, second, third, fourth];
  await immediate();
  await immediate();
  await immediate();
  expect(areRead(connections)).toEqual([false, true, true, true]);
  arrivals.onFirstRequest(fourth, true);
  expect(areRead(connections)).toEqual([false, false, false, true]);
  await immediate();
  expect(areRead(connections)).toEqual([true, false, false, true]);
  await immediate();
  await immediate();
  expect(areRead(connections)).toEqual([true, true, true, true]);
});

test('a small first chunk pauses no other connection', async () => {
  const [first, second] = await admitSockets(2);
  if (!first || !second) throw new Error('two sockets');
  await immediate();
  await immediate();
  arrivals.onFirstRequest(second, false);
  expect(areRead([first, second])).toEqual([true, true]);
});

test('closed connections are not read and not paused', async () => {
  const [first, second] = await admitSockets(2);
  if (!first || !second) throw new Error('two sockets');
  second.destroy();
  await immediate();
  expect(areRead([first, second])).toEqual([false, false]);
  await immediate();
  expect(areRead([first])).toEqual([true]);
  const [third] = await admitSockets(1);
  if (!third) throw new Error('a socket');
  await immediate();
  const closed = new Promise((resolve) => first.once('close', resolve));
  first.destroy();
  await closed;
  arrivals.onFirstRequest(third, true);
  expect(first.isPaused()).toBe(false);
});
