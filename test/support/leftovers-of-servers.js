// Runs before each test file. Only tests of the server are checked.
import { expect } from '@jest/globals';

if (expect.getState().testPath.includes('packages/spec-first-server/test/')) {
  await import('./leftovers.ts');
}
