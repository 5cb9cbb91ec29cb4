import { join } from 'node:path';
import {
  type ContractTestOptions,
  contractTests,
} from '../../src/contract-tests/contract-tests.ts';
import { KEY } from './shop.ts';

export const SHOP = join(import.meta.dirname, 'shop.yaml');

/**
 * Runs the contract tests of a service with few requests. By default, the document is that of the
 * shop. Resolves to the messages of the failed tests, by the names of the tests.
 *
 * @param parts parts of the names of the tests to run. By default, all run.
 */
export async function failedTests(
  options: Partial<ContractTestOptions>,
  ...parts: readonly string[]
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
    if (parts.length > 0 && !parts.some((part) => name.includes(part))) continue;
    await body().catch((error: unknown) => {
      failed[name] = error instanceof Error ? error.message : String(error);
    });
  }
  return failed;
}
