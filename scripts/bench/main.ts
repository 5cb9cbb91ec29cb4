import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchmark } from './benchmark.ts';
import { help, readFlags, UsageError } from './flags.ts';
import { report } from './report.ts';
import { format, invalid, type Results } from './results.ts';

try {
  const flags = readFlags();
  if (flags.help) {
    console.log(help);
  } else {
    const results = flags.from === undefined ? await benchmark(flags) : read(flags.from);
    if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(results, undefined, 2)}\n`);
    console.log(report(results));
    if (results.runs.some((run) => invalid(run) !== undefined))
      throw new Error('The run is invalid; no chart is drawn.');
    if (flags.svg !== undefined) {
      const { charts } = await import('./charts.ts');
      mkdirSync(flags.svg, { recursive: true });
      for (const [name, svg] of Object.entries(charts(results))) writeFileSync(join(flags.svg, name), svg);
    }
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

function read(file: string): Results {
  const results: Results = JSON.parse(readFileSync(file, 'utf8'));
  if (results.format !== format) throw new Error(`${file} does not hold results of this version of the benchmark.`);
  return results;
}
