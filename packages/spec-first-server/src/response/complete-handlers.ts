import type { Document, Finding, Operation } from 'openapi-document';
import type { AnyHandler } from '../handlers/types.ts';
import { HttpError } from './http-error.ts';
import type { MockOptions } from './mock.ts';

/** What becomes of an operation without a handler: the start fails, it answers 501, or it answers from the document. */
export type WhenMissing = 'refuse' | '501' | 'mock';

/** The operations that have no handler, or `undefined` in its place. */
export const withoutHandler = (operations: readonly Operation[], handlers: Readonly<Record<string, unknown>>) =>
  operations.filter(({ id }) => !Object.hasOwn(handlers, id) || handlers[id] === undefined);

/** The handlers with a stand-in for each one missing, and what is wrong with them. */
export async function completeHandlers(
  document: Document,
  operations: readonly Operation[],
  handlers: Readonly<Record<string, AnyHandler>>,
  when: WhenMissing,
  mocking: MockOptions,
): Promise<{ handlers: Readonly<Record<string, AnyHandler>>; findings: readonly Finding[] }> {
  const missing = withoutHandler(operations, handlers);
  const known = new Set(operations.map(({ id }) => id));
  const unknown = Object.keys(handlers).filter((id) => !known.has(id));
  const mock = when === 'mock' && missing.length > 0 ? (await import('./mock.ts')).mock : undefined;
  const standIn = (operation: Operation) => mock?.(document, operation, mocking) ?? notImplemented(operation);
  const unserved = missing.map(({ id, pointer }) => ({
    pointer,
    message: `operation ${id} has no handler: run npm run stub -- ${/^[\w.-]+$/.test(id) ? id : JSON.stringify(id)}`,
  }));
  const unused = unknown.map((id) => ({
    pointer: '/paths',
    message: `there is a handler for ${id}, but no such operation`,
  }));
  return {
    handlers: { ...handlers, ...Object.fromEntries(missing.map((operation) => [operation.id, standIn(operation)])) },
    findings: [...(when === 'refuse' ? unserved : []), ...(when === 'mock' ? [] : unused)],
  };
}

const notImplemented =
  ({ id }: Operation): AnyHandler =>
  () => {
    throw new HttpError(501, `${id} has no handler yet`);
  };
