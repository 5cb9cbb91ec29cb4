import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createApp } from 'spec-first-server';
import { failedTests } from './contract-tests/failed-tests.ts';

test('the mocks of a realistic document pass', async () => {
  const document = join(import.meta.dirname, 'contract-tests/realistic.yaml');
  const app = createApp({ document, handlers: {}, missing: 'mock', accessTokens: ['token'] });
  expect(await failedTests({ document, app, credentials: 'token' })).toEqual({});
});

test('the summary counts the operations that mocks answered', async () => {
  const document = join(import.meta.dirname, 'contract-tests/bookings.yaml');
  const getInvoice = () => ({ status: 204 });
  const app = createApp({ document, handlers: { getInvoice }, missing: 'mock' });
  let summary = '';
  const report = (text: string) => {
    summary = text;
  };
  expect(await failedTests({ document, app, report })).toEqual({});
  const [title, ...lines] = summary.split('\n');
  expect(title).toMatch(
    /^Contract tests: 5 of 5 operations succeeded at least once\. Answered by mocks: 4\. /,
  );
  const mocked = lines.filter((line) => line.endsWith('), mocked'));
  expect(mocked).toHaveLength(4);
  expect(mocked.join()).not.toContain('getInvoice');
});
