/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts', '<rootDir>/packages/*/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  setupFiles: ['<rootDir>/test/support/plain-output.js'],
  transform: { '\\.ts$': '<rootDir>/test/support/strip-types.js' },
  testTimeout: 60_000,
  // Many tests wait for processes of their own: one more than the cores of the machine that they are made for.
  maxWorkers: 3,
};
