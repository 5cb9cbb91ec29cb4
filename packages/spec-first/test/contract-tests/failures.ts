import { join } from 'node:path';
import {
  type ContractTestOptions,
  contractTests,
} from '../../src/contract-tests/contract-tests.ts';
import { KEY } from './shop.ts';

export const SHOP = join(import.meta.dirname, 'shop.yaml');

/**
 * Runs the contract tests of a service, by default of the shop, with fewer requests than users
 * send. CONTRACT_RUNS sets another number. Resolves to the messages of the failed tests, by their
 * names.
 *
 * @param last ends after the first test whose name contains this text.
 */
export async function failures(
  options: Partial<ContractTestOptions>,
  last?: string,
): Promise<Record<string, string>> {
  const tests = new Map<string, () => Promise<void>>();
  const collect = (name: string, body: () => Promise<void>) => tests.set(name, body);
  await contractTests({
    document: SHOP,
    credentials: { key: KEY },
    report() {},
    runs: 20,
    ...options,
    test: collect,
  });
  const failed: Record<string, string> = {};
  for (const [name, body] of tests) {
    await body().catch((error: unknown) => {
      failed[name] = error instanceof Error ? error.message : String(error);
    });
    if (last !== undefined && name.includes(last)) break;
  }
  return failed;
}
