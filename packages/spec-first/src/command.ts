import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { readEnvFile } from 'spec-first-server/cli';

export const ALLOW_OUTSIDE = { 'allow-outside': { type: 'boolean' } } as const;

/** Returns the path of the document: `OPENAPI_FILE`, also from `.env`, or `openapi.yaml`. */
export const documentFile = (): string =>
  process.env.OPENAPI_FILE || readEnvFile().OPENAPI_FILE || 'openapi.yaml';

type Parsed<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options; allowPositionals: true }>
>;

export class UsageError extends Error {}

/**
 * Returns a function that parses the arguments of a command and calls `run`. The function prints
 * the message of an error, and resolves to the exit code: 0 for `--help`, 2 for a wrong command
 * line.
 *
 * @param maxArguments the maximum number of arguments that are not options.
 * @param errorCode the exit code after any other error.
 */
export function command<Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
  maxArguments: number,
  run: (values: Parsed<Options>['values'], positionals: readonly string[]) => Promise<number>,
  errorCode = 1,
): (args: readonly string[]) => Promise<number> {
  return async (args) => {
    try {
      if (args.includes('--help')) {
        console.log(usage);
        return 0;
      }
      const parsed: Parsed<Options> = parseArgs({
        args: [...args],
        options,
        allowPositionals: true,
      });
      const extra = parsed.positionals[maxArguments];
      if (extra !== undefined) throw new UsageError(`Unexpected argument "${extra}"`);
      return await run(parsed.values, parsed.positionals);
    } catch (error) {
      const isUsage = error instanceof UsageError || /^ERR_PARSE_ARGS/.test(Object(error).code);
      console.error(isUsage ? `${messageOf(error)}\n\n${usage}` : messageOf(error));
      return isUsage ? 2 : errorCode;
    }
  };
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
