import { background } from './background.ts';
import type { CompilerWork } from './compiler.ts';

/** How many type errors are printed. */
const FEW = 10;

/**
 * Checks the types of the project in a process of its own, each time that it is called, and says what it finds. Calls
 * during a check are answered by one more check.
 */
export function typeChecker(say: (text: string) => void): () => Promise<void> {
  const compiler = background<CompilerWork>('compiler');
  let running = false;
  let again = false;
  return async () => {
    again = true;
    if (running) return;
    running = true;
    let errors: readonly string[] | undefined;
    try {
      while (again) {
        again = false;
        errors = await compiler('check');
      }
      if (errors !== undefined) say(report(errors));
    } catch (error) {
      say(`The types are not checked: ${error instanceof Error ? error.message : error}`);
    }
    running = false;
  };
}

function report(errors: readonly string[]): string {
  if (errors.length === 0) return 'The types fit.';
  const rest = errors.length - FEW;
  return ['The types do not fit:', ...errors.slice(0, FEW), ...(rest > 0 ? [`… and ${rest} more errors`] : [])].join(
    '\n',
  );
}
