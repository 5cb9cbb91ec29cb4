import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { charts } from '../../scripts/bench/charts.ts';
import { rival } from '../../scripts/bench/contenders/index.ts';
import { writeDocument } from '../../scripts/bench/document.ts';
import { fire } from '../../scripts/bench/fire.ts';
import { report } from '../../scripts/bench/report.ts';
import { format, median, type Results, type Run } from '../../scripts/bench/results.ts';
import { start } from '../../scripts/bench/servers.ts';
import { launchBrowser } from '../support/chromium.ts';

const root = join(import.meta.dirname, '../..');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bench-test-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function bench(...flags: string[]): ChildProcess {
  return spawn(process.execPath, ['scripts/bench/main.ts', ...flags], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function finished(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    output.stdout += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    output.stderr += chunk;
  });
  await once(child, 'close');
  return { code: child.exitCode, ...output };
}

const foldersOfRuns = async () =>
  (await readdir(join(root, 'data')).catch(() => [])).filter((name) => /^bench-/.test(name));

describe('npm run bench', () => {
  test('measures all contenders, reports and draws the results, and leaves nothing behind', async () => {
    const json = join(folder, 'contest.json');
    const before = await foldersOfRuns();
    // A busy machine may answer nothing in a round, but not in each of three.
    const flags = ['--rounds', '3', '--seconds', '0.15', '--connections', '4', '--json', json];
    const first = await finished(bench(...flags, '--svg', join(folder, 'first')));
    expect(first.stdout).not.toContain('INVALID');
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining('round 3 of 3') });
    for (const name of ['Express', 'Express + EOV', 'Express + openapi-backend', 'Fastify + openapi-glue']) {
      for (const kept of ['in memory', 'a commit per request']) {
        expect(first.stdout.split(`${name}, ${kept} `)).toHaveLength(2);
      }
    }
    expect(first.stdout).toMatch(/This service answers \d\.\d\d × as many requests as Express alone in memory/);

    const results: Results = JSON.parse(await readFile(json, 'utf8'));
    expect(results.runs).toHaveLength(9);
    for (const { rounds } of results.runs) {
      expect(rounds).toEqual(Array(3).fill(expect.objectContaining({ answered: expect.any(Number), failures: 0 })));
    }

    const again = await finished(bench('--from', json, '--svg', join(folder, 'again')));
    expect(again).toEqual({ code: 0, stdout: first.stdout, stderr: '' });
    expect(await readdir(join(folder, 'again'))).toEqual(['latency.svg', 'throughput.svg']);
    expect(await foldersOfRuns()).toEqual(before);
  });

  (process.platform === 'linux' ? test : test.skip)(
    'ends its servers and removes their data after SIGINT',
    async () => {
      const before = await foldersOfRuns();
      const child = bench('--seconds', '30');
      for await (const line of child.stderr ?? []) {
        if (String(line).includes('warming up')) break;
      }
      const pids = (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim().split(' ');
      expect(pids.length).toBeGreaterThanOrEqual(2);
      child.kill('SIGINT');
      await once(child, 'exit');
      expect(child.exitCode).toBe(130);
      expect(await foldersOfRuns()).toEqual(before);
      for (const pid of pids) await expect(goneOrDead(pid)).resolves.toBe(true);
    },
  );

  test.each([
    [['--round', '3'], /--round/],
    [['--rounds', '0'], /--rounds is "0". Use a whole number above 0/],
    [['--seconds', 'long'], /--seconds is "long". Use a number above 0/],
    [['--connections', '32,x'], /--connections is "x"/],
    [['--paths', '--workers'], /Choose one/],
    [['surprise'], /surprise/],
  ])('rejects %j', async (flags, message) => {
    const { code, stdout, stderr } = await finished(bench(...flags));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });

  test('reports why a run is invalid and draws no chart of it', async () => {
    const file = join(folder, 'invalid.json');
    const [run, ...others] = sample('contest').runs;
    await writeFile(file, JSON.stringify({ ...sample('contest'), runs: [{ ...run, lost: 3 }, ...others] }));
    const { code, stdout } = await finished(bench('--from', file, '--svg', join(folder, 'invalid')));
    expect(code).toBe(1);
    expect(stdout).toMatch(/INVALID: Express, in memory, 32 connections: 3 acknowledged plants are not stored/);
    await expect(readdir(join(folder, 'invalid'))).rejects.toThrow('ENOENT');
  });

  test('rejects results of another version', async () => {
    const file = join(folder, 'odd.json');
    await writeFile(file, JSON.stringify({ ...sample('paths'), format: 'bench-1' }));
    const { code, stderr } = await finished(bench('--from', file));
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `${file} does not hold results of this version of the benchmark.\n`,
    });
  });
});

describe('the load', () => {
  test('sends a valid request with a new id each time', async () => {
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        bodies.push(body);
        response.end('{}');
      });
    }).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const seen = await fire({ url: urlOf(server.address()), token: 'token', connections: 4, seconds: 0.1 });
      const ids = bodies.map((body) => JSON.parse(body).id);
      expect(ids.length).toBeGreaterThanOrEqual(seen.answered);
      expect(seen).toMatchObject({ failures: 0 });
      expect(new Set(ids).size).toBe(ids.length);
    } finally {
      server.close();
    }
  });

  test('counts answers other than 2xx as failures', async () => {
    const server = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(503).end());
    }).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const seen = await fire({ url: urlOf(server.address()), token: 'token', connections: 2, seconds: 0.1 });
      expect(seen).toMatchObject({ answered: 0, throughput: 0 });
      expect(seen.failures).toBeGreaterThan(0);
    } finally {
      server.close();
    }
  });
});

test('a contender that must check requests and does not is not measured', async () => {
  const lax = { ...rival('Express', 'in memory', ''), name: 'Lax', checks: true };
  await expect(start(lax, join(folder, 'lax'), undefined)).rejects.toThrow(
    'Lax answered 200 to a request without a token; expected 401.',
  );
});

test('writes a document with /plants in the middle of any number of paths', async () => {
  const file = join(folder, 'openapi.json');
  await writeDocument(join(root, 'openapi.yaml'), file, 101);
  const document = JSON.parse(await readFile(file, 'utf8'));
  const paths = Object.keys(document.paths);
  expect(paths).toHaveLength(101);
  expect(paths.indexOf('/plants')).toBe(50);
  expect(paths.toSorted().indexOf('/plants')).toBe(50);
  expect(document.servers).toEqual([{ url: '/' }]);
});

test('a median is the middle value, or the mean of the middle two', () => {
  expect([median([9, 1, 5]), median([4, 1, 2, 100])]).toEqual([5, 3]);
});

test('a report with failed requests calls the run invalid', () => {
  const results = sample('workers');
  results.runs[1]?.rounds.push({ answered: 0, failures: 1200, throughput: 0, p50: 0, p99: 0, cpu: 0 });
  expect(report(results)).toMatch(/INVALID: This service on PostgreSQL.*: 1,200 requests failed\./);
});

describe('the charts', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  const all = Object.entries({
    ...charts(sample('contest')),
    ...charts(sample('paths')),
    ...charts(sample('workers')),
  });

  test.each(all)('%s is well-formed, with all words inside the picture and none on another', async (name, svg) => {
    await writeFile(join(folder, name), svg);
    const page = await browser.newPage();
    try {
      await page.goto(pathToFileURL(join(folder, name)).href);
      expect(await page.locator('parsererror').count()).toBe(0);
      const boxes: { words: string; left: number; right: number; top: number; bottom: number }[] = await page.evaluate(`
        [...document.querySelectorAll('text')].map((element) => {
          const { left, right, top, bottom } = element.getBoundingClientRect();
          return { words: element.textContent, left, right, top: top + 2, bottom: bottom - 2 };
        })`);
      const [, width = 0, height = 0] = (/viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? []).map(Number);
      expect(boxes.length).toBeGreaterThan(10);
      expect(
        boxes.filter(({ left, right, top, bottom }) => left < 8 || right > width - 8 || top < 8 || bottom > height - 8),
      ).toEqual([]);
      const overlaps = boxes.flatMap((one, index) =>
        boxes
          .slice(index + 1)
          .filter((two) => one.left < two.right && two.left < one.right && one.top < two.bottom && two.top < one.bottom)
          .map((two) => `${one.words} / ${two.words}`),
      );
      expect(overlaps).toEqual([]);
    } finally {
      await page.close();
    }
  });

  test.each(all)('%s is readable in light and in dark', async (_name, svg) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ colorScheme });
      await page.setContent(svg);
      const colours: { tag: string; colour: string }[] = await page.evaluate(`
        [...document.querySelectorAll('rect:not(defs *), text, path:not(defs *, [fill-opacity="0"], [opacity])')].map((element) => {
          const { fill, stroke } = getComputedStyle(element);
          return { tag: element.tagName, colour: fill === 'none' ? stroke : fill };
        })`);
      await page.close();
      const [card, ...marks] = colours;
      const ground = luminance(card?.colour ?? '');
      expect(ground < 0.5 ? 'dark' : 'light').toBe(colorScheme);
      expect(marks.length).toBeGreaterThan(20);
      for (const { tag, colour } of marks.filter((mark) => mark.colour !== 'none')) {
        const ink = luminance(colour);
        const contrast = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
        // WCAG 2.2, success criteria 1.4.3 and 1.4.11.
        expect(contrast).toBeGreaterThanOrEqual(tag === 'text' ? 4.5 : 3);
      }
    }
  });

  test.each(all)('%s says its figures, date and machine in words', (_name, svg) => {
    expect(svg).toMatch(/<title id="title">[^<]+<\/title>/);
    expect(svg).toMatch(/<desc id="description">[^<]*(more|less) is better[^<]*\d[^<]*<\/desc>/i);
    expect(svg).toMatch(/2026-01-31.*64 cores/s);
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  });
});

/** The relative luminance of a computed colour, as WCAG 2.2 defines it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/\d+/g) ?? []).map((part) => {
    const share = Number(part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function urlOf(address: ReturnType<ReturnType<typeof createServer>['address']>): string {
  if (address === null || typeof address === 'string') throw new Error('no TCP port');
  return `http://127.0.0.1:${address.port}/plants`;
}

/** Whether a process ends within 20 seconds; a zombie has ended. */
async function goneOrDead(pid: string): Promise<boolean> {
  for (let attempt = 0; attempt < 1000; attempt += 1) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    if (stat === undefined || / [ZX] /.test(stat)) return true;
    await sleep(20);
  }
  return false;
}

/** Results with wide ranges and characters that XML must escape. */
function sample(kind: Results['kind']): Results {
  const run = (name: string, kept: Run['kept'], throughput: number, more: Partial<Run> = {}): Run => ({
    name,
    kept,
    paths: 1,
    workers: 1,
    connections: 32,
    started: [312, 356, 401],
    memory: [100_000_000, 120_000_000],
    lost: 0,
    rounds: [0.7, 1, 1.1].map((factor) => ({
      answered: throughput,
      failures: 0,
      throughput: throughput * factor,
      p50: 16e3 / throughput / factor,
      p99: 1e6 / throughput / factor,
      cpu: 0,
    })),
    ...more,
  });
  const runs = {
    contest: [32, 1, 512].flatMap((connections) => [
      run('Express', 'in memory', 31_600, { connections }),
      run('Express + openapi-backend', 'in memory', 15_100, { connections }),
      run('Fastify + openapi-glue', 'a commit per request', 2_350, { connections }),
      run('This service', 'on disk, shared commits', 133_400, { connections }),
    ]),
    paths: [1, 10, 100, 1000].flatMap((paths) => [
      run('Express + EOV', 'in memory', 15_000 / (1 + paths / 30), { paths }),
      run('This service', 'in memory', 15_500, { paths }),
    ]),
    workers: [1, 2].flatMap((workers) => [
      run('This service on SQLite', 'on disk, shared commits', 15_000 * workers, { workers }),
      run('This service on PostgreSQL', 'on disk, shared commits', 9_000 * workers, { workers }),
    ]),
  };
  return {
    format,
    kind,
    command: kind === 'contest' ? 'npm run bench' : `npm run bench -- --${kind}`,
    date: '2026-01-31T12:00:00.000Z',
    machine: {
      cpu: 'Brand <R> "Model" & Sons CPU 8370C Platinum @ 2.80GHz',
      cores: 64,
      system: 'Linux 6.1',
      load: 0.1,
    },
    versions: { node: '26.10.0', express: '5.3.0', 'express-openapi-validator': '5.6.2' },
    pinned: true,
    ceiling: 56_000,
    seconds: 2.5,
    runs: runs[kind],
  };
}
