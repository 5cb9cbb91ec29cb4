import { styleText } from 'node:util';
import { TOKEN_PLACE } from '../request/example.ts';
import { VARIABLES } from './configuration.ts';
import type { Started } from './service.ts';
import type { Variables } from './variables.ts';

/** What the start tells a person: where the service is, what it does, and how to try it. */
export function banner({ url, store, docs, metrics, operations, missing, example }: Started, token?: string): string {
  const entries: readonly (readonly [label: string, text: string | undefined])[] = [
    ['listening', styleText('bold', url)],
    ['page', docs],
    ['store', store],
    ['metrics', metrics],
    ...operations.map((operation, index) => [index === 0 ? 'operations' : '', operation] as const),
    ...missing.map((place, index) => [index === 0 ? 'missing' : '', place] as const),
    ['token', token],
  ];
  const lines = entries.flatMap(([label, text]) =>
    text === undefined ? [] : [styleText('dim', label.padEnd(12)) + text],
  );
  if (token !== undefined) {
    lines.push('', 'The token was made for this run; set ACCESS_TOKENS to one that stays.');
    if (example !== undefined) lines.push('Try it:', '', withToken(example, token));
  }
  return `\n${lines.map((text) => (text === '' ? '' : `  ${text}`)).join('\n')}\n\n`;
}

/** An example with the token in its place, to be pasted into a shell. */
export const withToken = (example: string, token: string): string => example.replaceAll(TOKEN_PLACE, token);

/** What `--help` prints. */
export const help = (own: Variables): string => `Usage: npm start -- [--help] [--stack]

  --help    prints this
  --stack   shows where in the code an error at the start comes from

Variables of the environment, or of a file .env in the working directory:

${[...VARIABLES, ...Object.entries(own).map(([name, { default: preset, meaning }]) => [name, preset, meaning] as const)].map(([name, preset, meaning]) => `  ${name.padEnd(20)}${meaning}${preset === '' ? '' : `\n${' '.repeat(22)}default: ${preset}`}`).join('\n')}

SIGTERM and SIGINT stop it in order, a second one at once; SIGHUP reads ACCESS_TOKENS_FILE again.
`;

/** An error at the start, as one block: what is wrong, where, and what would be right. */
export function startError(message: string): string {
  const heading = styleText('red', 'The service cannot start.', { stream: process.stderr });
  return `${heading}\n\n${message.replace(/^(?=.)/gm, '  ')}\n`;
}

/** What is wrong, for a person. @param stack whether to say where in the code, too. */
export function explain(error: unknown, stack: boolean): string {
  if (!(error instanceof Error)) return String(error);
  if (stack) return error.stack ?? error.message;
  const code = 'code' in error ? String(error.code) : '';
  if (code.startsWith('ERR_PARSE_ARGS')) return `${error.message.split('. ', 1)[0]}: --help shows what there is`;
  if (isFaultOfCode(error)) return error.stack?.replace(/\n\s+at [^\n]*\bnode:internal[^\n]*/g, '') ?? error.message;
  return error.message;
}

/** Whether code could not be loaded, or does what it may not: the place in it says more than the message. */
const isFaultOfCode = (error: Error): boolean =>
  [SyntaxError, TypeError, ReferenceError, RangeError].some((type) => error instanceof type) ||
  /\bat ModuleJob\./.test(error.stack ?? '');
