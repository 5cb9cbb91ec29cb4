import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Programs that tests start share a compile cache: the service starts with 30 % less CPU time.
const compiled = mkdtempSync(join(tmpdir(), 'compiled-'));
process.env.NODE_COMPILE_CACHE = compiled;
process.on('exit', () => rmSync(compiled, { recursive: true, force: true }));

/** @type {import('jest').Config} */
export default {
  // Removes the developer's environment variables.
  testEnvironment: '<rootDir>/test/support/test-environment.js',
  // Finds what tests of the server leave behind.
  setupFilesAfterEnv: ['<rootDir>/test/support/leftovers-of-servers.js'],
  testMatch: ['<rootDir>/test/**/*.test.ts', '<rootDir>/packages/*/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^typescript$': '<rootDir>/test/support/typescript.cjs' },
  transform: { '\\.ts$': '<rootDir>/test/support/strip-types.js' },
  // Longer than each wait inside a test: the error of a wait names the missing condition.
  testTimeout: 120_000,
  // Two more than the cores of the smallest machine: many tests wait for child processes.
  maxWorkers: 4,
  // Jest keeps modules of earlier suites. A larger heap makes each later suite slower. At the end,
  // V8 may take longer to free it than the 500 ms that Jest allows: the warning of a worker that
  // "has failed to exit gracefully" then does not mean that a suite has left something open.
  workerIdleMemoryLimit: '400MB',
  reporters: ['default', '<rootDir>/test/support/missing.js'],
};
