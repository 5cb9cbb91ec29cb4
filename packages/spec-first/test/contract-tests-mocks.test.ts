import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createApp } from 'spec-first-server';
import { failures } from './contract-tests/failures.ts';

test('the mocks of a realistic document pass', async () => {
  const document = join(import.meta.dirname, 'contract-tests/real.yaml');
  const app = createApp({ document, handlers: {}, missing: 'mock', accessTokens: ['token'] });
  expect(await failures({ document, app, credentials: 'token' })).toEqual({});
});
