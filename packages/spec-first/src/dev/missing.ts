import type { Started } from 'spec-first-server';

/** How many operations are named. */
const FEW = 10;

/**
 * The operations without a handler, and the command that writes stubs for them.
 *
 * @param mocked whether they are mocked until they have one.
 */
export function describeMissing(missing: Started['missing'], mocked: boolean): string {
  if (missing.length === 0) return '';
  const rest = missing.length - FEW;
  const ids = missing.map(({ operationId: id }) => (/^[\w.-]+$/.test(id) ? id : JSON.stringify(id)));
  const names = rest > 0 ? '--all' : ids.join(' ');
  return [
    `Left to write, ${mocked ? 'mocked' : 'answered with 501'} until then:`,
    ...missing.slice(0, FEW).map(({ operationId, place }) => `${place} operation ${operationId} has no handler`),
    ...(rest > 0 ? [`… and ${rest} more`] : []),
    `To write stubs: npm run stub -- ${names}`,
  ].join('\n');
}
