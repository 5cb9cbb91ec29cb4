import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from '@jest/globals';
import { contendersIn } from '../../scripts/bench/contenders.ts';
import { start, TOKEN } from '../../scripts/bench/servers.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'bench-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

function bench(...flags: string[]): ChildProcess {
  return spawn(process.execPath, ['scripts/bench/main.ts', ...flags], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function finished({ stdout, stderr, ...child }: ChildProcess) {
  const [printed, problems] = await Promise.all([stdout && text(stdout), stderr && text(stderr)]);
  return { code: child.exitCode, stdout: printed, stderr: problems };
}

const foldersOfRuns = () =>
  readdirSync(join(root, 'data'), { recursive: false }).filter((name) => /^bench-/.test(String(name)));

test('npm run bench measures the chosen contenders, writes figures and a chart, and leaves no file behind', async () => {
  const [json, svg] = [join(folder, 'figures.json'), join(folder, 'chart.svg')];
  const only = ['--only', '^(Express|This service), (in memory|on disk)'];
  const short = ['--rounds', '2', '--seconds', '0.1', '--connections', '4', '--json', json, '--svg', svg];
  const { stdout, stderr } = await finished(bench(...only, ...short));
  expect(stderr).toContain('round 2 of 2');
  expect(stdout).toContain('POST /plants over 4 connections');
  const names = ['Express, in memory', 'This service, in memory', 'This service, on disk, shared commits'];
  const { runs }: { runs: { name: string; rounds: object[] }[] } = JSON.parse(readFileSync(json, 'utf8'));
  expect(runs.map(({ name }) => name)).toEqual(names);
  const round = { throughput: expect.any(Number), failures: 0, p50: expect.any(Number), p99: expect.any(Number) };
  for (const { rounds } of runs) expect(rounds).toEqual(Array(2).fill(expect.objectContaining(round)));
  const chart = readFileSync(svg, 'utf8');
  for (const name of names) expect(chart).toContain(`>${name}<`);
  expect(foldersOfRuns()).toEqual([]);
});

test('npm run bench -- --streams measures events of this service and of Express', async () => {
  const { stdout, stderr } = await finished(bench('--streams', '--seconds', '0.1'));
  expect(stderr).toBe('');
  for (const name of ['This service', 'Express']) {
    expect(stdout).toMatch(new RegExp(`│ ${name} +│ [1-9]\\d* +│ \\d+ +│ \\d+ `));
  }
});

test('npm run bench ends its servers and removes their files when it is interrupted', async () => {
  const child = bench('--only', '^Express, in memory', '--seconds', '30');
  for await (const line of child.stderr ?? []) if (String(line).includes('starting')) break;
  child.kill('SIGINT');
  await once(child, 'exit');
  expect(foldersOfRuns()).toEqual([]);
});

test.each([
  [['--rounds', '0'], /"0" must be a number above 0/],
  [['--connections', '32,x'], /"x" must be a number above 0/],
])('npm run bench rejects %j', async (flags, message) => {
  const { stdout, stderr } = await finished(bench(...flags));
  expect(stdout).toBe('');
  expect(stderr).toMatch(message);
});

describe('a contender that checks the contract', () => {
  const checking = contendersIn(folder).filter(({ name }) => /(EOV|glue|service), in memory/.test(name));

  test.each(checking)('$name: rejects a missing token and an invalid plant', async (contender) => {
    const { url, end } = await start(contender, join(folder, 'log'));
    const post = async (headers: Record<string, string>, body: object) => {
      const json = { 'Content-Type': 'application/json', ...headers };
      return (await fetch(url, { method: 'POST', headers: json, body: JSON.stringify(body) })).status;
    };
    try {
      expect(await post({}, { id: 1, name: 'Fern' })).toBe(401);
      expect(await post({ Authorization: `Bearer ${TOKEN}` }, { id: 1 })).toBe(400);
    } finally {
      end();
    }
  });
});
