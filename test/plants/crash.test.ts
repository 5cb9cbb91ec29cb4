import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { plantsIn, type ServiceProcess, start, TOKEN } from './support/plant-service.ts';

/** The number of times that the process is killed. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 1);
const CONNECTIONS = 24;

let folder: string;
let path: string;
const processes: ServiceProcess[] = [];

async function run(): Promise<ServiceProcess> {
  const service = await start({ DATABASE_URL: `sqlite:${path}` });
  processes.push(service);
  return service;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plants-'));
  path = join(folder, 'plants.db');
});

afterEach(async () => {
  for (const { child, exit } of processes.splice(0)) {
    child.kill('SIGKILL');
    await exit;
  }
  rmSync(folder, { recursive: true });
});

interface Plant {
  readonly name: string;
  readonly tag?: string;
}

const plant = (id: number): Plant => ({
  name: `plant ${id} 🌱`,
  ...(id % 3 > 0 && { tag: `tag ${id}` }),
});

function post(
  agent: Agent,
  port: number,
  id: number,
  content: Plant,
): Promise<{ status: number; error?: number }> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
    const sent = request(
      { host: '127.0.0.1', port, path: '/plants', method: 'POST', agent, headers },
      (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, ...JSON.parse(text) }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(JSON.stringify({ id, ...content }));
  });
}

interface Sent {
  next: number;
  readonly sent: Set<number>;
  readonly acknowledged: Set<number>;
}

/** Posts new plants on many connections, one at a time on each, until the service is gone. */
async function load({ port }: ServiceProcess, ids: Sent): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const client = async () => {
    for (;;) {
      const id = ids.next++;
      ids.sent.add(id);
      try {
        const { status } = await post(agent, port, id, plant(id));
        expect(status).toBe(200);
        ids.acknowledged.add(id);
      } catch (error) {
        // Errors of Node are not instances of the class Error of Jest.
        if (/^(ECONN|EPIPE)/.test(String(Object(error).code))) return;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  agent.destroy();
}

/** Checks that every stored plant was sent with its values. Returns their ids. */
function storedIds({ sent }: Sent): Set<number> {
  const plants = [...plantsIn(path)];
  for (const [id, { name, tag }] of plants) {
    expect(sent.has(Number(id))).toBe(true);
    expect({ name, tag }).toEqual({ tag: null, ...plant(Number(id)) });
  }
  return new Set(plants.map(([id]) => Number(id)));
}

describe('a process that is killed', () => {
  test(
    'has stored every acknowledged plant, and none that was not sent',
    async () => {
      const ids: Sent = { next: 1, sent: new Set(), acknowledged: new Set() };
      let service = await run();
      for (let round = 0; round < ROUNDS; round += 1) {
        const before = ids.acknowledged.size;
        const loading = load(service, ids);
        await eventually(() => ids.acknowledged.size > before + 10);
        await delay(Math.random() * 400);
        service.child.kill('SIGKILL');
        await loading;
        expect(await service.exit).toBe('SIGKILL');

        service = await run();
        const stored = storedIds(ids);
        expect([...ids.acknowledged].filter((id) => !stored.has(id))).toEqual([]);

        // Clients without a response send their plants again. Clients with a response may do so, too.
        const unanswered = [...ids.sent].filter((id) => !ids.acknowledged.has(id));
        expect(unanswered.length).toBeGreaterThan(0);
        const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
        const again = [...unanswered, ...[...ids.acknowledged].slice(-100)];
        const answers = await Promise.all(
          again.map((id) => post(agent, service.port, id, plant(id))),
        );
        expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
        expect(storedIds(ids)).toEqual(new Set([...stored, ...unanswered]));
        agent.destroy();
        for (const id of unanswered) ids.acknowledged.add(id);
      }
    },
    300_000 + ROUNDS * 10_000,
  );
});
