import type { RequestListener } from 'node:http';
import { contractTests } from 'spec-first/contract-tests';

interface Service {
  readonly document: string;
  readonly app: RequestListener;
  readonly credentials?: string | Readonly<Record<string, string>>;
  readonly otherCaller?: string;
}

/** Runs the contract tests of a service. Returns the messages of the tests that fail. */
export async function failuresOf(service: Service): Promise<string[]> {
  const tests: (() => Promise<void>)[] = [];
  await contractTests({
    ...service,
    test: (_, body) => tests.push(body),
    report: () => undefined,
  });
  const failures: string[] = [];
  for (const run of tests) {
    try {
      await run();
    } catch (error) {
      failures.push(String(error));
    }
  }
  return failures;
}
