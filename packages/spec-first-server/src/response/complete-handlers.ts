import type { Document, Finding, MediaType, Operation } from 'openapi-document';
import type { AnyHandler } from '../handlers/types.ts';
import { HttpError } from './http-error.ts';
import type { MockOptions } from './mock.ts';

/** What becomes of an operation without a handler: the start fails, it answers 501, or it answers from the document. */
export type WhenMissing = 'refuse' | '501' | 'mock';

type Handlers = Readonly<Record<string, AnyHandler>>;

/** The operations that have no handler, or `undefined` in its place. */
export const withoutHandler = (operations: readonly Operation[], handlers: Readonly<Record<string, unknown>>) =>
  operations.filter(({ id }) => !Object.hasOwn(handlers, id) || handlers[id] === undefined);

/** The handlers with a stand-in for each one missing, what is wrong with them, and what failures of mocks are made of. */
export async function completeHandlers(
  document: Document,
  operations: readonly Operation[],
  handlers: Handlers,
  when: WhenMissing,
  mocking: MockOptions,
) {
  const missing = withoutHandler(operations, handlers);
  const mocks = when === 'mock' && missing.length > 0 ? await import('./mock.ts') : undefined;
  const samples = mocks && ((media: MediaType) => mocks.sampleBodies(document, media));
  const standIns = missing.map((operation): [string, AnyHandler] => {
    const notImplemented = () => {
      throw new HttpError(501, `${operation.id} has no handler yet`);
    };
    return [operation.id, mocks?.mock(document, operation, mocking) ?? notImplemented];
  });
  const unserved = missing.map(({ id, pointer }): Finding => {
    const name = /^[\w.-]+$/.test(id) ? id : JSON.stringify(id);
    return { pointer, message: `operation ${id} has no handler: run npm run stub -- ${name}` };
  });
  const unknown = Object.keys(handlers).filter((name) => operations.every(({ id }) => id !== name));
  const unused = unknown.map((id): Finding => {
    return { pointer: '/paths', message: `there is a handler for ${id}, but no such operation` };
  });
  return {
    handlers: { ...handlers, ...Object.fromEntries(standIns) } as Handlers,
    samplesFor: (operation: Operation) => (missing.includes(operation) ? samples : undefined),
    findings: [...(when === 'refuse' ? unserved : []), ...(when === 'mock' ? [] : unused)],
  };
}
