import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const PROJECT = join(import.meta.dirname, '..');
const SERVER = 'packages/spec-first-server/src';

const FORBIDDEN: readonly (readonly [file: string, imported: string])[] = [
  [`${SERVER}/handlers/up.ts`, '../validation/eov.ts'],
  [`${SERVER}/response/up.ts`, '../security/schemes.ts'],
  [`${SERVER}/http/up.ts`, '../routing/app.ts'],
  [`${SERVER}/routing/up.ts`, '../process/serve.ts'],
  [`${SERVER}/routing/entry.ts`, '../index.ts'],
  ['packages/spec-first/src/path.ts', '../../spec-first-server/src/index.ts'],
  ['packages/spec-first/src/deep.ts', 'spec-first-server/src/index.ts'],
  ['packages/spec-first/test/path.ts', '../../spec-first-server/src/routing/app.ts'],
  ['src/path.ts', '../packages/spec-first-server/src/index.ts'],
  ['scripts/deep.ts', 'spec-first-server/src/index.ts'],
];
const ALLOWED: readonly (readonly [file: string, imported: string])[] = [
  [`${SERVER}/routing/down.ts`, '../http/operator-routes.ts'],
  [`${SERVER}/validation/down.ts`, '../handlers/types.ts'],
  [`${SERVER}/index.ts`, './process/serve.ts'],
  ['packages/spec-first/src/name.ts', 'spec-first-server'],
  ['packages/spec-first/test/own.ts', '../src/name.ts'],
  ['src/name.ts', 'spec-first-server'],
];
const CYCLE: typeof FORBIDDEN = [
  [`${SERVER}/handlers/one.ts`, './other.ts'],
  [`${SERVER}/handlers/other.ts`, './one.ts'],
];

let folder: string;
let said: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'layers-'));
  const { vcs: _, $schema: __, ...rules } = JSON.parse(readFileSync(join(PROJECT, 'biome.json'), 'utf8'));
  writeFileSync(join(folder, 'biome.json'), JSON.stringify(rules));
  for (const [file, imported] of [...FORBIDDEN, ...ALLOWED, ...CYCLE]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), `import type { X } from '${imported}';\nexport type Y = X;\n`);
  }
  const biome = join(PROJECT, 'node_modules/.bin/biome');
  const args = ['lint', '--colors=off', '--max-diagnostics=none', '.'];
  const { stdout, stderr } = spawnSync(biome, args, { cwd: folder, encoding: 'utf8' });
  said = stdout + stderr;
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each(FORBIDDEN)('the lint rejects that %s imports %s', (file) => {
  expect(said).toMatch(new RegExp(`^${file}:1:\\d+ lint/style/noRestrictedImports`, 'm'));
});

test.each(ALLOWED)('the lint allows that %s imports %s', (file) => {
  expect(said).not.toContain(`${file}:`);
});

test.each(CYCLE)('the lint rejects a cycle of types: %s imports %s', (file) => {
  expect(said).toMatch(new RegExp(`^${file}:1:\\d+ lint/suspicious/noImportCycles`, 'm'));
});
