import { explain, hasCredentials, loadEnvFile, randomToken, readConfig, startError } from 'spec-first-server';
import { command, OUTSIDE, UsageError } from './command.ts';
import { watchAndServe } from './dev/loop.ts';

const USAGE = `Usage: spec-first dev [--allow-outside]

Serves the document, and follows each save of the document or of a file in src: types, server, what is left to write.
The last good version answers until a new one serves, and while the new one has an error.

  --allow-outside   read files outside the document's folder that it references
  --help            show this

The variables are those of npm start. Operations without a handler are mocked, unless MISSING_OPERATIONS is set.
Exit codes: 0 ended by a signal, 1 a wrong variable, 2 a wrong command line.`;

/** Serves and follows saves until a signal ends the process. Resolves to the exit code if it cannot start. */
export const run = command(USAGE, OUTSIDE, async ({ 'allow-outside': allowOutside = false }, others) => {
  if (others.length > 0) throw new UsageError(`Unexpected argument "${others[0]}"`);
  try {
    loadEnvFile();
    const config = readConfig({ ...process.env, NODE_ENV: undefined });
    const { OPENAPI_FILE: file } = config;
    const token = hasCredentials(config) ? undefined : randomToken();
    const env = {
      ...(token !== undefined && { ACCESS_TOKENS: token }),
      MISSING_OPERATIONS: process.env.MISSING_OPERATIONS || 'mock',
      NODE_ENV: 'development',
      WORKERS: '1',
      DRAIN_SECONDS: '0',
    };
    watchAndServe({ file, env, token, allowOutside });
    return 0;
  } catch (error) {
    process.stderr.write(startError(explain(error, false)));
    return 1;
  }
});
