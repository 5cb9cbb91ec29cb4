import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** The option of commands that read a document. */
export const OUTSIDE = { 'allow-outside': { type: 'boolean' } } as const;

const HELP = { help: { type: 'boolean' } } as const;

type Parsed<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options; allowPositionals: true }>
>;

/** The command line is wrong. */
export class UsageError extends Error {}

/**
 * A command of the tools, as a function from its arguments to the exit code: 0 after --help, 2 for a wrong command line.
 * Errors are printed.
 *
 * @param run gets the options and the other arguments, and resolves to the exit code.
 * @param failure the exit code after any other error.
 */
export function command<Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
  run: (values: Parsed<Options>['values'], others: readonly string[]) => Promise<number>,
  failure = 1,
): (args: readonly string[]) => Promise<number> {
  return async (args) => {
    try {
      const { values, positionals } = read(args, options);
      if (Object.hasOwn(values, 'help')) {
        console.log(usage);
        return 0;
      }
      return await run(values, positionals);
    } catch (error) {
      const isUsage = error instanceof UsageError;
      console.error(isUsage ? `${error.message}\n\n${usage}` : messageOf(error));
      return isUsage ? 2 : failure;
    }
  };
}

function read<Options extends ParseArgsOptionsConfig>(args: readonly string[], options: Options): Parsed<Options> {
  try {
    return parseArgs({ args: [...args], options: { ...options, ...HELP }, allowPositionals: true });
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
