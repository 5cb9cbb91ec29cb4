import { join } from 'node:path';
import {
  type ContractTestOptions,
  contractTests,
} from '../../src/contract-tests/contract-tests.ts';
import { KEY } from './shop.ts';

export const SHOP = join(import.meta.dirname, 'shop.yaml');

/**
 * Runs the tests of a service, of the shop by default, and returns the messages of those that fail,
 * by their names.
 *
 * @param last what the name of the last test that is run contains. By default all are.
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
