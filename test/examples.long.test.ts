import { expect, test } from '@jest/globals';
import { startPostgres } from 'test-support/postgres';
import { expectSuccess, testExample } from './support/examples.ts';

test.each(['shop', 'bookings'])(
  'the example %s passes its tests, and each operation succeeds once',
  async (name) => expectSuccess(await testExample(name)),
);

/** Operations that only contract tests call, and operations that create their data. */
const ONLY_CONTRACT_TESTS = ['createProduct', 'createOrder', 'listOrders', 'cancelOrder'];

test('the shop passes its tests on PostgreSQL', async () => {
  const postgres = await startPostgres();
  const pattern = `--test-name-pattern=/^[a-z]|${ONLY_CONTRACT_TESTS.join('|')}/`;
  const variables = { TEST_DATABASE_URL: await postgres.createDatabase() };
  const output = await testExample('shop', variables, [pattern]);
  await postgres.remove();
  expect(output).toMatch(/^ℹ fail 0$/m);
  expect(output).toMatch(/Contract tests: 4 of 4 operations succeeded at least once\./);
});
