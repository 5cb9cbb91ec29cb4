import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from '@jest/globals';
import { contendersIn } from '../../scripts/bench/contenders.ts';
import { hasWrk, LOADS, TOKEN } from '../../scripts/bench/load.ts';
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

async function outputOf({ stdout, stderr }: ChildProcess) {
  const [printed, errors] = await Promise.all([stdout && text(stdout), stderr && text(stderr)]);
  return { stdout: printed, stderr: errors };
}

const MEASUREMENT = {
  rate: expect.any(Number),
  responses: expect.any(Number),
  failures: 0,
  p50: expect.any(Number),
  p99: expect.any(Number),
};

const leftFolders = () =>
  readdirSync(join(root, 'data')).filter((name) => name.startsWith('bench-'));

test('npm run bench measures the selected contenders, writes figures and a chart, and removes its folders', async () => {
  const names = ['Express, in memory', 'This service, on disk, shared commits'];
  const [json, svg] = [join(folder, 'figures.json'), join(folder, 'chart.svg')];
  const only = ['--only', `^(${names.join('|')})$`, '--load', 'autocannon'];
  const short = ['--rounds', '1', '--seconds', '0.5', '--warm-up', '0.1', '--connections', '4'];
  const { stdout, stderr } = await outputOf(bench(...only, ...short, '--json', json, '--svg', svg));
  expect(stderr).toContain('round 1 of 1');
  expect(stdout).toContain('POST /plants over 4 connections');
  const { runs }: { runs: { name: string; samples: object[] }[] } = JSON.parse(
    readFileSync(json, 'utf8'),
  );
  expect(runs.map(({ name }) => name)).toEqual(names);
  const cpu = process.platform === 'linux' && { cpu: expect.any(Number) };
  for (const { samples } of runs) expect(samples).toEqual([{ ...MEASUREMENT, ...cpu }]);
  const chart = readFileSync(svg, 'utf8');
  for (const name of names) expect(chart).toContain(`>${name}<`);
  expect(leftFolders()).toEqual([]);
});

test('npm run bench -- --failing measures group-commit when calls fail', async () => {
  const { stdout, stderr } = await outputOf(
    bench('--failing', '--rounds', '1', '--seconds', '0.2'),
  );
  expect(stderr).toBe('');
  expect(stdout).toMatch(/1 % of the calls fail +│ [1-9]\d* +│ '\d/);
  expect(leftFolders()).toEqual([]);
});

test('npm run bench -- --streams measures events of this service and of Express', async () => {
  const { stdout, stderr } = await outputOf(
    bench('--streams', '--seconds', '0.02', '--open', '20'),
  );
  expect(stderr).toBe('');
  for (const name of ['This service', 'Express']) {
    expect(stdout).toMatch(new RegExp(`│ ${name} +│ [1-9]\\d* +│ \\d+ +│ \\d+ `));
  }
});

test('npm run bench ends its servers and removes their files when it is interrupted', async () => {
  const child = bench('--only', '^Express, in memory', '--seconds', '30');
  for await (const line of child.stderr ?? []) if (String(line).includes('round 1')) break;
  child.kill('SIGINT');
  await once(child, 'exit');
  expect(leftFolders()).toEqual([]);
});

test.each([
  [['--connections', '32,x'], /--connections must be a number above 0, got "x"/],
  [['--load', 'ab'], /--load must be wrk or autocannon, got "ab"/],
])('npm run bench rejects %j', async (flags, message) => {
  const child = bench(...flags);
  const [{ stdout, stderr }, [code]] = await Promise.all([outputOf(child), once(child, 'exit')]);
  expect([stdout, code]).toEqual(['', 1]);
  expect(stderr).toMatch(message);
});

// wrk loads for whole seconds.
(hasWrk() ? test : test.skip)('wrk measures requests (needs wrk)', async () => {
  const [contender] = contendersIn(folder).filter(({ name }) => name === 'node:http, in memory');
  if (contender === undefined) throw new Error('no contender');
  const { url, end } = await start(contender, join(folder, 'log'));
  try {
    const measured = await LOADS.wrk({ url, connections: 1, seconds: 1, firstId: 1 });
    expect(measured).toEqual(MEASUREMENT);
    expect(measured.responses).toBeGreaterThan(1);
  } finally {
    await end();
  }
});

describe('a contender that validates requests', () => {
  const validating = contendersIn(folder).filter(({ name }) => /(EOV|glue), in memory/.test(name));

  test.each(validating)('$name rejects a missing token and an invalid plant', async (contender) => {
    const { url, end } = await start(contender, join(folder, 'log'));
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
