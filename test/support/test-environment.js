import { TestEnvironment } from 'jest-environment-node';

/** Variables that tests read: of the system, of npm, and the lengths of longer runs. */
const KEPT =
  /^(PATH|HOME|TMPDIR|LANG|CI|NODE_ENV|NODE_COMPILE_CACHE|NODE_EXTRA_CA_CERTS|CHROME_PATH|JEST_\w+|npm_config_\w+|https?_proxy|no_proxy|FLOOD|CONTRACT_SEED|\w+_(ROUNDS|RUNS|REQUESTS))$/i;

// Jest gives tests a copy of process.env. A child that is spawned without `env` inherits the
// worker's own: with the developer's variables, and with FORCE_COLOR in a colour terminal.
for (const name of Object.keys(process.env)) {
  if (!KEPT.test(name)) delete process.env[name];
}

// Contract tests send the same requests in each run, so that only a change can make them fail.
process.env.CONTRACT_SEED ??= '1';

export default TestEnvironment;
