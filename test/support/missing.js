/** Prints what skipped tests need, after the summary: titles end with `(needs …)`. */
export default class Missing {
  onRunComplete(_contexts, { testResults }) {
    const counts = new Map();
    for (const { status, fullName } of testResults.flatMap((suite) => suite.testResults)) {
      const [, need] = /\(needs ([^)]+)\)/.exec(fullName) ?? [];
      if (status === 'pending' && need) counts.set(need, (counts.get(need) ?? 0) + 1);
    }
    for (const [need, count] of counts)
      process.stderr.write(`Skipped ${count} of the tests: ${need} is missing.\n`);
  }
}
