import { TestEnvironment } from 'jest-environment-node';

/** Variables of the system and of npm, and those that make test runs longer. */
const INHERITED =
  /^(PATH|HOME|TMPDIR|LANG|CI|NODE_ENV|NODE_COMPILE_CACHE|NODE_EXTRA_CA_CERTS|CHROME_PATH|JEST_\w+|npm_config_\w+|https?_proxy|no_proxy|FLOOD|CONTRACT_SEED|FUZZ_SEED|\w+_(ROUNDS|RUNS|REQUESTS))$/i;

// Jest gives tests a copy of process.env. A child without `env` inherits that of the Jest worker:
// with the developer's variables, and with FORCE_COLOR in a colour terminal.
for (const name of Object.keys(process.env)) {
  if (!INHERITED.test(name)) delete process.env[name];
}

// Contract tests send the same requests in each run, so only a change can make them fail.
process.env.CONTRACT_SEED ??= '1';

export default class extends TestEnvironment {
  /** Checks what tests leave behind, after all hooks. See leftovers.ts. */
  async handleTestEvent(event, state) {
    const { leftovers } = this.global;
    if (leftovers === undefined) return;
    if (event.name === 'test_done') {
      await leftovers.afterTest().catch((error) => event.test.errors.push(error));
    } else if (event.name === 'run_finish') {
      await leftovers.afterFile().catch((error) => state.unhandledErrors.push(error));
    }
  }
}
