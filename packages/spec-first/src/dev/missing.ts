/** How many operations are named. */
const FEW = 10;

/**
 * The operations without a handler, and the command that writes stubs for them.
 *
 * @param mocked whether they are mocked until they have one.
 * @param describe names operations, with `file:line:column`.
 */
export function describeMissing(
  missing: readonly string[],
  mocked: boolean,
  describe: (operationIds: readonly string[]) => readonly string[],
): string {
  if (missing.length === 0) return '';
  const shown = missing.slice(0, FEW);
  const rest = missing.length - shown.length;
  const names = rest > 0 ? '--all' : shown.map((id) => (/^[\w.-]+$/.test(id) ? id : JSON.stringify(id))).join(' ');
  return [
    `Left to write, ${mocked ? 'mocked' : 'answered with 501'} until then:`,
    ...describe(shown),
    ...(rest > 0 ? [`… and ${rest} more`] : []),
    `To write stubs: npm run stub -- ${names}`,
  ].join('\n');
}
