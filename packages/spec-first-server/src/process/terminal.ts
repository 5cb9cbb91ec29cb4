import { styleText } from 'node:util';
import { SERVER_VARIABLES } from './configuration.ts';
import type { Variable, Variables } from './environment.ts';
import { withToken } from './example.ts';
import type { Started } from './messages.ts';

const FEW = 10;

const INDENT = ' '.repeat(14);

/** The start for a person: where the service is, what it serves, and how to try it. */
export function banner({ url, store, docs, metrics, operations, missing, example }: Started, token?: string): string {
  const entries: readonly (readonly [label: string, text: string | undefined])[] = [
    ['listening', styleText('bold', url)],
    ['page', docs],
    ['store', store],
    ['metrics', metrics],
    ['operations', listed(operations)],
    ['no handler', listed(missing)],
    ['token', token],
  ];
  const lines = entries.flatMap(([label, text]) =>
    text === undefined || text === '' ? [] : [styleText('dim', label.padEnd(12)) + text],
  );
  if (token !== undefined) {
    lines.push('', 'The token was made for this run; set ACCESS_TOKENS to one that stays.');
  }
  if (example !== undefined) lines.push('', 'Try it:', '', withToken(example, token));
  return `\n${lines.map((text) => (text === '' ? '' : `  ${text}`)).join('\n')}\n\n`;
}

const listed = (items: readonly string[]): string =>
  [...items.slice(0, FEW), ...(items.length > FEW ? [`… and ${items.length - FEW} more`] : [])].join(`\n${INDENT}`);

/** The text of `--help`. @param own the project's own variables */
export function help(own: Variables): string {
  const entries = Object.entries<Variable<unknown>>({ ...SERVER_VARIABLES, ...own }).map(
    ([name, { default: preset, description }]) =>
      `  ${name.padEnd(28)}${description}${preset === '' ? '' : `\n${' '.repeat(30)}default: ${preset}`}`,
  );
  return `Usage: npm start -- [--help] [--version] [--stack] [--allow-outside]

  --help            prints this
  --version         prints the versions of the project, its runtime and Node
  --stack           shows where in the code an error at the start comes from
  --allow-outside   reads files outside the folder of the document that it references

Variables of the environment, or of a file .env in the working directory:

${entries.join('\n')}

SIGTERM and SIGINT stop it in order, another one after a second at once; SIGHUP reads ACCESS_TOKENS_FILE again.
`;
}

export function startError(message: string): string {
  const heading = styleText('red', 'The service cannot start.', { stream: process.stderr });
  return `${heading}\n\n${message.replace(/^(?=.)/gm, '  ')}\n`;
}

/** An error for a person. @param stack whether to show where in the code it comes from */
export function explain(error: unknown, stack: boolean): string {
  if (!(error instanceof Error)) return String(error);
  if (stack) return error.stack ?? error.message;
  const code = 'code' in error ? String(error.code) : '';
  if (code.startsWith('ERR_PARSE_ARGS')) return `${error.message.split('. ', 1)[0]}: --help shows all`;
  // Code cannot be loaded, or breaks a rule of the language: then the place says more than the message.
  const isFault =
    [SyntaxError, TypeError, ReferenceError, RangeError].some((type) => error instanceof type) ||
    /^ERR_(MODULE|PACKAGE|UNKNOWN|UNSUPPORTED)_/.test(code);
  return (isFault && error.stack?.replace(/\n\s+at [^\n]*\bnode:internal[^\n]*/g, '')) || error.message;
}
