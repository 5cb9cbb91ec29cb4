/** Prints what skipped tests need, in the last lines: their titles contain `(needs …)`. */
export default class Missing {
  #isPartial;

  constructor({ testNamePattern }) {
    this.#isPartial = Boolean(testNamePattern);
  }

  onRunComplete(_contexts, { testResults }) {
    if (this.#isPartial) return;
    const counts = new Map();
    for (const { status, fullName } of testResults.flatMap((suite) => suite.testResults)) {
      const [, need] = /\(needs ([^)]+)\)/.exec(fullName) ?? [];
      if (status === 'pending' && need) counts.set(need, (counts.get(need) ?? 0) + 1);
    }
    process.once('exit', () => {
      for (const [need, count] of counts)
        process.stderr.write(`Skipped tests: ${count}, since ${need} is missing\n`);
    });
  }
}
