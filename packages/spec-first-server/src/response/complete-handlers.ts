import type { Document, Finding, Operation } from 'openapi-document';
import type { AnyHandler } from '../handlers/types.ts';
import type { Samples } from './failure-reply.ts';
import { HttpError } from './http-error.ts';
import type { MockOptions } from './mock.ts';

/** What becomes of an operation without a handler: the start fails, it answers 501, or it answers from the document. */
export type WhenMissing = 'refuse' | '501' | 'mock';

/** The operations that have no handler, or `undefined` in its place. */
export const withoutHandler = (operations: readonly Operation[], handlers: Readonly<Record<string, unknown>>) =>
  operations.filter(({ id }) => !Object.hasOwn(handlers, id) || handlers[id] === undefined);

interface CompleteHandlers {
  readonly handlers: Readonly<Record<string, AnyHandler>>;
  readonly findings: readonly Finding[];
  /** What failures of a mocked operation are made of; `undefined` for any other. */
  readonly samplesFor: (operation: Operation) => Samples | undefined;
}

/** The handlers with a stand-in for each one missing, and what is wrong with them. */
export async function completeHandlers(
  document: Document,
  operations: readonly Operation[],
  handlers: Readonly<Record<string, AnyHandler>>,
  when: WhenMissing,
  mocking: MockOptions,
): Promise<CompleteHandlers> {
  const missing = withoutHandler(operations, handlers);
  const known = new Set(operations.map(({ id }) => id));
  const unknown = Object.keys(handlers).filter((id) => !known.has(id));
  const mocks = when === 'mock' && missing.length > 0 ? await import('./mock.ts') : undefined;
  const samples = mocks?.sampleBodies(document);
  const standIn = (operation: Operation) => mocks?.mock(document, operation, mocking) ?? notImplemented(operation);
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
    samplesFor: (operation) => (missing.includes(operation) ? samples : undefined),
    findings: [...(when === 'refuse' ? unserved : []), ...(when === 'mock' ? [] : unused)],
  };
}

const notImplemented =
  ({ id }: Operation): AnyHandler =>
  () => {
    throw new HttpError(501, `${id} has no handler yet`);
  };
