import { propertyName, TYPES } from './types.ts';

/** A constant with handlers, and the file that exports it. */
export interface HandlersOfTag {
  readonly constant: string;
  /** Relative to the folder `src`. */
  readonly file: string;
}

/**
 * Returns the text of `src/handlers.ts`, which combines the handlers of all operations.
 *
 * @param unwritten the ids of the operations without a handler.
 */
export function handlersFile(
  unwritten: readonly string[],
  written: readonly HandlersOfTag[] = [],
): string {
  const imports = [
    unwritten.length > 0 ? "import { unimplemented } from 'spec-first-server';\n" : '',
    `import type { Handlers } from '../${TYPES}';\n`,
    ...importsOf(written),
  ];
  const members = unwritten.map((id) => `  ${propertyName(id)}: unimplemented,\n`);
  return `${imports.join('')}
/** The handlers of all operations. Those that are \`unimplemented\` can be mocked. */
export const handlers = {
${[...spreadsOf(written), ...members].join('')}} satisfies Handlers;
`;
}

/**
 * Reads the text of a `src/handlers.ts` that only `new` and `stub` have written.
 *
 * @param ids the ids of all operations.
 * @returns `undefined` if the file has been edited.
 */
export function readHandlersFile(text: string, ids: readonly string[]) {
  const imports = text.matchAll(/^import \{ (\w+) \} from '\.\/(.*)';$/gm);
  const written = Array.from(imports, ([, constant = '', file = '']) => ({ constant, file }));
  const unwritten = ids.filter((id) => text.includes(`  ${propertyName(id)}: unimplemented,\n`));
  return handlersFile(unwritten, written) === text ? { unwritten, written } : undefined;
}

export const importsOf = (written: readonly HandlersOfTag[]): string[] =>
  written.map(({ constant, file }) => `import { ${constant} } from './${file}';\n`);

export const spreadsOf = (written: readonly HandlersOfTag[]): string[] =>
  written.map(({ constant }) => `  ...${constant},\n`);
