import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createApp } from 'spec-first-server';
import { failedTests } from './contract-tests/failed-tests.ts';

test('the mocks of a realistic document pass', async () => {
  const document = join(import.meta.dirname, 'contract-tests/realistic.yaml');
  const app = createApp({ document, handlers: {}, missing: 'mock', accessTokens: ['token'] });
  expect(await failedTests({ document, app, credentials: 'token' })).toEqual({});
});
