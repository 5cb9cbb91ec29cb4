import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** How many type errors are printed. */
const FEW = 10;

/**
 * Checks the types of the project in a thread, each time that `check` is called. Says what it finds unless it said the
 * same before.
 */
export function typeChecker(say: (text: string) => void) {
  const compiler = new Worker(new URL(`./compiler${extname(import.meta.filename)}`, import.meta.url));
  let pending = 0;
  let last: string | undefined;
  compiler.on('message', (errors: readonly string[] | undefined) => {
    pending -= 1;
    // A newer check makes this one stale.
    if (pending > 0 || errors === undefined) return;
    const text = report(errors);
    if (text !== last) say(text);
    last = text;
  });
  compiler.on('error', (error) => say(`The types are no longer checked: ${error}`));
  return {
    check() {
      pending += 1;
      compiler.postMessage('check');
    },
  };
}

function report(errors: readonly string[]): string {
  if (errors.length === 0) return 'The types fit.';
  const rest = errors.length - FEW;
  return ['The types do not fit:', ...errors.slice(0, FEW), ...(rest > 0 ? [`… and ${rest} more errors`] : [])].join(
    '\n',
  );
}
