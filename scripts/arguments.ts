import { parseArgs } from 'node:util';

/** What the caller gave is wrong: the help is shown. */
export class UsageError extends Error {
  constructor(message: string, help: string) {
    super(`${message}\n\n${help}`);
  }
}

/** The arguments of a command, as many as have names. Shows the help, and ends the process, if `--help` is among them. */
export function readArguments(help: string, names: readonly string[]): string[] {
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ options: { help: { type: 'boolean' } }, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), help);
  }
  if (parsed.values.help) {
    process.stdout.write(help);
    process.exit(0);
  }
  if (parsed.positionals.length !== names.length) throw new UsageError(`Needed: ${names.join(' ')}`, help);
  return parsed.positionals;
}

/** Runs a command. What it throws goes to standard error, and the process ends with 2 for wrong arguments, else with 1. */
export async function runScript(main: () => Promise<void>, describe: (error: unknown) => string): Promise<void> {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`${error instanceof UsageError ? error.message : describe(error)}\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
