import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Programs that tests start share what Node has compiled: the service starts with 30 % less CPU
// time.
const compiled = mkdtempSync(join(tmpdir(), 'compiled-'));
process.env.NODE_COMPILE_CACHE = compiled;
process.on('exit', () => rmSync(compiled, { recursive: true, force: true }));

/** @type {import('jest').Config} */
export default {
  // Tests and the programs that they start see only the variables that this file keeps.
  testEnvironment: '<rootDir>/test/support/test-environment.js',
  testMatch: ['<rootDir>/test/**/*.test.ts', '<rootDir>/packages/*/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/support/strip-types.js' },
  // Longer than each wait inside a test, whose error says what did not come.
  testTimeout: 120_000,
  // Many tests wait for processes of their own: one more than the cores of the machine that they
  // are made for.
  maxWorkers: 3,
};
