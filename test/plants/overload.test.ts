import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connected, exchange, type RawResponse, request } from '../support/raw-http.ts';
import { plantsIn, type ServiceProcess, serve, start, TOKEN } from './support/plant-service.ts';

const MAX_WAITING = 50;
const MIB = 1024 * 1024;

let folder: string;
let path: string;
let service: ServiceProcess;
let blocker: DatabaseSync;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'plants-'));
  path = join(folder, 'plants.db');
  service = await start({ DATABASE_URL: `sqlite:${path}`, MAX_WAITING: String(MAX_WAITING) });
  blocker = new DatabaseSync(path);
});

afterAll(async () => {
  blocker.close();
  service.child.kill('SIGKILL');
  await service.exit;
  rmSync(folder, { recursive: true });
});

let lastId = 0;

function newPlant(): string {
  lastId += 1;
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
  return request('POST /plants', headers, JSON.stringify({ id: lastId, name: `plant ${lastId}` }));
}

/** Posts new plants, so many on each of so many connections. */
async function flood(connections: number, each: number): Promise<{ answers: RawResponse[]; took: number }> {
  const began = performance.now();
  const exchanges = await Promise.all(
    Array.from({ length: connections }, () =>
      exchange(service.port, Array.from({ length: each }, newPlant).join(''), { responses: each, wait: 10_000 }),
    ),
  );
  return { answers: exchanges.flatMap(({ responses }) => responses), took: performance.now() - began };
}

const count = (answers: readonly RawResponse[], expected: number): number =>
  answers.filter(({ status }) => status === expected).length;

/** Resolves to how long it took, in milliseconds. */
async function healthy(): Promise<number> {
  const { responses, took } = await exchange(service.port, request('GET /healthz'));
  expect(responses.map(({ status }) => status)).toEqual([200]);
  return took;
}

describe('while the store is held up', () => {
  test('as many requests as may wait are answered later, the others with 503 at once, and then all again', async () => {
    const warm = await flood(10, 20);
    const before = performance.now();
    blocker.exec('BEGIN IMMEDIATE');
    const waiting = flood(MAX_WAITING, 1);
    await delay(300);

    const refused = await flood(100, 5);
    expect(refused.answers.length).toBe(500);
    expect(refused.took).toBeLessThan(1_500);
    for (const { status, headers, body } of refused.answers) {
      expect(status).toBe(503);
      expect(headers['retry-after']).toBe('1');
      expect(JSON.parse(body.toString())).toEqual({ error: 503, message: expect.any(String) });
    }
    expect(await healthy()).toBeLessThan(500);

    blocker.exec('ROLLBACK');
    expect(performance.now() - before).toBeLessThan(4_500);
    expect(count((await waiting).answers, 200)).toBe(MAX_WAITING);

    const after = await flood(10, 5);
    expect(count(after.answers, 200)).toBe(50);
    expect(after.took).toBeLessThan(1_000);
    expect(plantsIn(path).size).toBe(count(warm.answers, 200) + MAX_WAITING + 50);
  });

  test('a flood leaves no memory behind, and health is answered throughout', async () => {
    blocker.exec('BEGIN IMMEDIATE');
    const waiting = flood(MAX_WAITING, 1);
    await delay(200);
    // The first of a flood makes what lasts: compiled code, pools.
    await flood(20, 50);
    const before = await service.memory();
    const slowest: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const [{ answers }, took] = await Promise.all([flood(20, 50), healthy()]);
      expect(count(answers, 503)).toBe(1_000);
      slowest.push(took);
    }
    const grown = (await service.memory()) - before;
    blocker.exec('ROLLBACK');
    await waiting;
    expect(Math.max(...slowest)).toBeLessThan(2_000);
    expect(grown).toBeLessThan(3 * MIB);
  });
});

describe('connections', () => {
  test('that do nothing cost little, and leave nothing behind', async () => {
    const before = await service.memory();
    const sockets: Socket[] = [];
    for (let group = 0; group < 20; group += 1) {
      sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => connected(service.port)))));
    }
    await Promise.all(
      sockets.map((socket) => {
        socket.write(request('GET /healthz'));
        return new Promise((resolve) => socket.once('data', resolve));
      }),
    );
    const each = ((await service.memory()) - before) / sockets.length;
    expect(await healthy()).toBeLessThan(500);
    for (const socket of sockets) socket.destroy();
    await delay(500);
    const left = (await service.memory()) - before;
    expect({ each: Math.round(each / 1024) <= 16, left: left < 3 * MIB }).toEqual({ each: true, left: true });
  });

  test('that never read are cut off, also while the service has much to say', async () => {
    const limits = { idleTimeout: 500, headersTimeout: 300, requestTimeout: 600, keepAliveTimeout: 300 };
    const impatient = await serve({ limits });
    const socket = await connected(impatient.port);
    socket.pause();
    socket.write(request('GET /docs/swagger-ui-bundle.js').repeat(50));
    await delay(300);
    expect(await impatient.connections()).toBe(1);
    for (let tenths = 0; tenths < 40 && (await impatient.connections()) > 0; tenths += 1) await delay(100);
    expect(await impatient.connections()).toBe(0);
    socket.destroy();
    await impatient.stop();
  });
});
