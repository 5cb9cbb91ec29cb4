import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from 'group-commit/sqlite';
import { median } from './median.ts';

/** The number of callers, each with one call at a time. */
const CALLERS = 128;

/** The shares of calls that fail, in percent. */
const SHARES = [0, 1, 10];

/** Prints the rate and the latency of group-commit with each share of failing calls. */
export async function benchFailingCalls(data: string, rounds: number, seconds: number) {
  const runs = SHARES.map((share) => ({ share, rates: [] as number[], p99s: [] as number[] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { share, rates, p99s } of runs) {
      const { rate, p99 } = await measure(data, share, seconds);
      rates.push(rate);
      p99s.push(p99);
    }
  }

  const medians = runs.map(({ rates, p99s }) => ({ rate: median(rates), p99: median(p99s) }));
  const rows = medians.map(({ rate, p99 }, index) => [
    `${SHARES[index]} % of the calls fail`,
    {
      'calls/s': Math.round(rate),
      '×': (rate / (medians[0]?.rate ?? NaN)).toFixed(2),
      'p99 ms': p99.toFixed(2),
      'p99 ×': (p99 / (medians[0]?.p99 ?? NaN)).toFixed(2),
    },
  ]);
  console.table(Object.fromEntries(rows));
}

async function measure(data: string, share: number, seconds: number) {
  const folder = mkdtempSync(join(data, 'failing-'));
  const database = await openDatabase<typeof import('./failing-calls-module.ts').default>({
    file: join(folder, 'orders.db'),
    module: new URL('./failing-calls-module.ts', import.meta.url),
  });
  const times: number[] = [];
  let calls = 0;
  const start = performance.now();
  const end = start + seconds * 1000;

  async function caller(): Promise<void> {
    while (performance.now() < end) {
      calls += 1;
      const fails = calls % 100 < share;
      const sent = performance.now();
      await database.write('order', calls, fails).catch(() => {});
      times.push(performance.now() - sent);
    }
  }

  await Promise.all(Array.from({ length: CALLERS }, caller));
  const rate = times.length / ((performance.now() - start) / 1000);
  await database.close();
  rmSync(folder, { recursive: true });
  times.sort((a, b) => a - b);
  return { rate, p99: times[Math.floor(0.99 * times.length)] ?? NaN };
}
