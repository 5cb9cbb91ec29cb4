import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { connected, exchange, type RawResponse, request } from 'test-support/raw-http';
import { plantsIn, type ServiceProcess, start, TOKEN } from './support/plant-service.ts';

const MAX_WAITING = 50;
const MIB = 1024 * 1024;

let folder: string;
let path: string;
let service: ServiceProcess;
let blocker: DatabaseSync;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'plants-'));
  path = join(folder, 'plants.db');
  service = await start(
    { DATABASE_URL: `sqlite:${path}`, MAX_WAITING: String(MAX_WAITING), METRICS_PORT: '0' },
    join(import.meta.dirname, 'support/long-timeout-service.ts'),
  );
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

async function flood(connections: number, count: number): Promise<RawResponse[]> {
  const exchanges = await Promise.all(
    Array.from({ length: connections }, () =>
      exchange(service.port, Array.from({ length: count }, newPlant).join(''), {
        responses: count,
      }),
    ),
  );
  return exchanges.flatMap(({ responses }) => responses);
}

const countStatus = (answers: readonly RawResponse[], expected: number): number =>
  answers.filter(({ status }) => status === expected).length;

async function expectHealthy(): Promise<void> {
  const { responses } = await exchange(service.port, request('GET /healthz'));
  expect(responses.map(({ status }) => status)).toEqual([200]);
}

/**
 * Locks the store, and posts plants until no more may wait.
 *
 * @returns a function that unlocks the store, and resolves to the responses.
 */
async function fillQueue(): Promise<() => Promise<RawResponse[]>> {
  blocker.exec('BEGIN IMMEDIATE');
  const answers = flood(MAX_WAITING, 1);
  await eventually(async () => (await service.waiting()) === MAX_WAITING);
  return () => {
    blocker.exec('ROLLBACK');
    return answers;
  };
}

describe('while the store is locked', () => {
  test('MAX_WAITING requests wait, and others get 503 at once', async () => {
    const warm = await flood(10, 20);
    const release = await fillQueue();

    const rejected = await flood(100, 5);
    expect(rejected.length).toBe(500);
    for (const { status, headers, body } of rejected) {
      expect(status).toBe(503);
      expect(headers['retry-after']).toBe('1');
      expect(JSON.parse(body.toString())).toEqual({ error: 503, message: expect.any(String) });
    }
    await expectHealthy();

    expect(countStatus(await release(), 200)).toBe(MAX_WAITING);

    expect(countStatus(await flood(10, 5), 200)).toBe(50);
    expect(plantsIn(path).size).toBe(countStatus(warm, 200) + MAX_WAITING + 50);
  });

  test('a flood leaks no memory, and health checks succeed during it', async () => {
    const release = await fillQueue();
    // The first flood creates compiled code and pools, which stay in memory.
    await flood(20, 50);
    const before = await service.memory();
    for (let round = 0; round < 3; round += 1) {
      const [answers] = await Promise.all([flood(20, 50), expectHealthy()]);
      expect(countStatus(answers, 503)).toBe(1_000);
    }
    const grown = (await service.memory()) - before;
    await release();
    expect(grown).toBeLessThan(3 * MIB);
  });
});

describe('connections', () => {
  test('use little memory while idle, and none after they close', async () => {
    const before = await service.memory();
    const sockets: Socket[] = [];
    for (let group = 0; group < 20; group += 1) {
      sockets.push(
        ...(await Promise.all(Array.from({ length: 100 }, () => connected(service.port)))),
      );
    }
    await Promise.all(
      sockets.map((socket) => {
        socket.write(request('GET /healthz'));
        return new Promise((resolve) => socket.once('data', resolve));
      }),
    );
    const bytesPerConnection = ((await service.memory()) - before) / sockets.length;
    await expectHealthy();
    for (const socket of sockets) socket.destroy();
    expect(bytesPerConnection).toBeLessThan(16.5 * 1024);
    await eventually(async () => (await service.memory()) - before < 3 * MIB);
  });
});
