/**
 * Lists the functions of the packages that one `POST /plants` runs, by file, without the store. A
 * newcomer who follows a request reads these.
 *
 * Usage: node scripts/functions-of-a-call.ts
 */
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { serve } from 'spec-first-server';
import { freePort } from 'test-support/free-port';
import { errorBody } from '../src/errors.ts';
import { openPlants, variables } from '../src/plants.ts';

const TOKEN = 'a-token-for-this-script-only';
const PORT = String(await freePort());
Object.assign(process.env, {
  ACCESS_TOKENS: TOKEN,
  DATABASE_URL: 'sqlite::memory:',
  LOG_LEVEL: 'info',
  PORT,
});

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
await serve({ open: openPlants, variables, errorBody });
for (let id = 1; id <= 3; id += 1) {
  await session.post('Profiler.takePreciseCoverage');
  await fetch(`http://127.0.0.1:${PORT}/plants`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ id, name: 'Monstera deliciosa', tag: 'tropical' }),
  });
  await delay(20);
}
const { result } = await session.post('Profiler.takePreciseCoverage');

const files = new Map<string, string[]>();
for (const { url, functions } of result) {
  if (!url.startsWith('file:')) continue;
  const file = relative(process.cwd(), fileURLToPath(url));
  if (!file.startsWith('packages/') || file.startsWith('packages/group-commit')) continue;
  const called = functions.flatMap(({ functionName, ranges: [range] }) =>
    range !== undefined && range.count > 0 ? [functionName || '(anonymous)'] : [],
  );
  if (called.length > 0) files.set(file, called);
}
for (const [file, names] of [...files].sort()) console.error(`${file}: ${names.join(', ')}`);
const count = [...files.values()].flat().length;
console.error(`${count} functions in ${files.size} files`);
process.exit();
