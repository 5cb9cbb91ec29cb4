import type { Document, Finding } from '../document/document.ts';
import type { AnyHandler } from '../document/handler-types.ts';
import type { Operation } from '../document/operations.ts';
import { HttpError } from './http-error.ts';
import type { CheckReply } from './mock.ts';

/** What becomes of an operation without a handler: the start is refused, it answers 501, or from the document. */
export type WhenMissing = 'refuse' | '501' | 'mock';

/**
 * The handlers with a stand-in for each one missing, and what is wrong with them.
 *
 * @throws {Error} if mocks are asked for, but what makes them is not installed.
 */
export async function completeHandlers(
  document: Document,
  operations: readonly Operation[],
  handlers: Readonly<Record<string, AnyHandler>>,
  when: WhenMissing,
  check: CheckReply,
): Promise<{ handlers: Readonly<Record<string, AnyHandler>>; findings: readonly Finding[] }> {
  const missing = operations.filter(({ id }) => id !== '' && !Object.hasOwn(handlers, id));
  const known = new Set(operations.map(({ id }) => id));
  const astray = Object.keys(handlers).filter((id) => !known.has(id));
  const mock = when === 'mock' && missing.length > 0 ? await mockMaker() : undefined;
  const unserved: readonly Finding[] =
    when === 'refuse' ? missing.map(({ id, pointer }) => ({ pointer, message: `operation ${id} has no handler` })) : [];
  return {
    handlers: { ...handlers, ...Object.fromEntries(missing.map((operation) => [operation.id, standIn(operation)])) },
    findings: [
      ...unserved,
      ...(when === 'mock'
        ? []
        : astray.map((id) => ({ pointer: '/paths', message: `there is a handler for ${id}, but no such operation` }))),
    ],
  };

  function standIn(operation: Operation): AnyHandler {
    if (mock !== undefined) return mock(document, operation, check);
    return () => {
      throw new HttpError(501, `${operation.id} is declared, but not implemented yet`);
    };
  }
}

async function mockMaker() {
  try {
    return (await import('./mock.ts')).mock;
  } catch (cause) {
    throw new Error('MISSING_OPERATIONS=mock needs the development dependencies: run npm ci without --omit=dev', {
      cause,
    });
  }
}
