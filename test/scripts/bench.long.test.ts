import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from '@jest/globals';
import { contendersIn } from '../../scripts/bench/contenders.ts';
import { TOKEN } from '../../scripts/bench/load.ts';
import { start } from '../../scripts/bench/servers.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'bench-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

function bench(...flags: string[]): ChildProcess {
  return spawn(process.execPath, ['scripts/bench/main.ts', ...flags], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

const leftFolders = () =>
  readdirSync(join(root, 'data')).filter((name) => name.startsWith('bench-'));

const hasWrk = spawnSync('wrk', ['--version']).error === undefined;

(hasWrk ? test : test.skip)('npm run bench prints a row for each server (needs wrk)', async () => {
  const child = bench('--only', '^(Express|This service), in memory', '--rounds=1', '--seconds=1');
  const printed = await text(child.stdout as Readable);
  const cells = String.raw`( \| [\d,]+ \| \d+\.\d\d \| \d+\.\d \| \d+\.\d){2} \|`;
  for (const name of ['Express, in memory', 'This service, in memory'])
    expect(printed).toMatch(new RegExp(`^\\| ${name}${cells}$`, 'm'));
  expect(leftFolders()).toEqual([]);
});

test('npm run bench ends its servers and removes their files when it is interrupted', async () => {
  const child = bench('--only', '^Express, in memory');
  for await (const line of child.stderr ?? []) if (String(line).includes('round 1')) break;
  child.kill('SIGINT');
  await once(child, 'exit');
  expect(leftFolders()).toEqual([]);
});

describe('a contender that validates requests', () => {
  const validating = contendersIn(folder).filter(({ name }) => /(EOV|Fastify)/.test(name));

  test.each(validating)('$name rejects a missing token and an invalid plant', async (contender) => {
    const { url, end } = await start(contender, folder);
    const post = async (headers: Record<string, string>, body: object) => {
      const json = { 'Content-Type': 'application/json', ...headers };
      return (await fetch(url, { method: 'POST', headers: json, body: JSON.stringify(body) }))
        .status;
    };
    try {
      expect(await post({}, { id: 1, name: 'Fern' })).toBe(401);
      expect(await post({ Authorization: `Bearer ${TOKEN}` }, { id: 1 })).toBe(400);
    } finally {
      await end();
    }
  });
});
