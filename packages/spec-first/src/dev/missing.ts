/** How many operations are named. */
const FEW = 10;

/**
 * The operations without a handler, and the command that writes stubs for them.
 *
 * @param missing lines `file:line:column operation ID has no handler`.
 * @param mocked whether they are mocked until they have one.
 */
export function describeMissing(missing: readonly string[], mocked: boolean): string {
  if (missing.length === 0) return '';
  const rest = missing.length - FEW;
  const ids = missing.map((line) => / operation (.*) has no handler/.exec(line)?.[1] ?? '');
  const names = rest > 0 ? '--all' : ids.map((id) => (/^[\w.-]+$/.test(id) ? id : JSON.stringify(id))).join(' ');
  return [
    `Left to write, ${mocked ? 'mocked' : 'answered with 501'} until then:`,
    ...missing.slice(0, FEW),
    ...(rest > 0 ? [`… and ${rest} more`] : []),
    `To write stubs: npm run stub -- ${names}`,
  ].join('\n');
}
