import type { RequestListener } from 'node:http';
import { contractTests } from 'spec-first/contract-tests';

interface Service {
  readonly document: string;
  readonly app: RequestListener;
  readonly credentials?: string | Readonly<Record<string, string>>;
  readonly otherCaller?: string;
}

/**
 * Runs the contract tests of a service. Returns the messages of the tests that fail.
 *
 * @param max the number of failed tests after which no other test runs.
 */
export async function failuresOf(service: Service, max = Infinity): Promise<string[]> {
  const tests: (() => Promise<void>)[] = [];
  await contractTests({
    ...service,
    test: (_, body) => tests.push(body),
    report: () => undefined,
  });
  const failures: string[] = [];
  for (const run of tests) {
    if (failures.length >= max) break;
    try {
      await run();
    } catch (error) {
      failures.push(String(error));
    }
  }
  return failures;
}
