import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** The option of commands that read a document. */
export const OUTSIDE = { 'allow-outside': { type: 'boolean' } } as const;

type Parsed<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options; allowPositionals: true }>
>;

/** The command line is wrong. */
export class UsageError extends Error {}

/**
 * A command of the tools, as a function from its arguments to the exit code: 0 after --help, 2 for a wrong command line.
 * Errors are printed.
 *
 * @param most how many arguments it takes besides options.
 * @param failure the exit code after any other error.
 */
export function command<Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
  most: number,
  run: (values: Parsed<Options>['values'], others: readonly string[]) => Promise<number>,
  failure = 1,
): (args: readonly string[]) => Promise<number> {
  return async (args) => {
    try {
      if (args.includes('--help')) {
        console.log(usage);
        return 0;
      }
      const parsed: Parsed<Options> = parseArgs({ args: [...args], options, allowPositionals: true });
      const extra = parsed.positionals[most];
      if (extra !== undefined) throw new UsageError(`Unexpected argument '${extra}'`);
      return await run(parsed.values, parsed.positionals);
    } catch (error) {
      const isUsage = error instanceof UsageError || /^ERR_PARSE_ARGS/.test(Object(error).code);
      console.error(isUsage ? `${messageOf(error)}\n\n${usage}` : messageOf(error));
      return isUsage ? 2 : failure;
    }
  };
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
