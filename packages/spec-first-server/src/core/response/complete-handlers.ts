import type { Document, Finding, MediaType, Operation } from 'openapi-document';
import type { AnyHandler } from '../handlers/types.ts';
import { HttpError } from './http-error.ts';
import type { MockOptions } from './mock.ts';

/**
 * The treatment of operations without a handler: `refuse` fails the start, `501` answers with that
 * status, and `mock` answers with examples of the document. `next` is for `expressHandler` only:
 * the next handler of the Express app answers.
 */
export type WhenMissing = 'refuse' | '501' | 'mock' | 'next';

/** A handler may be `undefined`: then it is missing. */
export type PartialHandlers = Readonly<Record<string, AnyHandler | undefined>>;

type Handlers = Readonly<Record<string, AnyHandler>>;

/**
 * Stands for the handler of an operation that nobody has written yet: the operation is treated as
 * one without a handler, but the compiler does not report it.
 *
 * @example
 * const handlers: Handlers = { listBooks: unimplemented };
 *
 * @throws {HttpError} 501 if it is called.
 */
export function unimplemented(): never {
  throw new HttpError(501, 'the operation has no handler yet');
}

/** Handlers may be methods of a class. Other objects inherit members of `Object.prototype` only. */
function handlerIn(handlers: PartialHandlers, id: string): AnyHandler | undefined {
  const isMember = Object.hasOwn(handlers, id) || !(id in Object.prototype);
  return isMember && handlers[id] !== unimplemented ? handlers[id] : undefined;
}

export const withoutHandler = (operations: readonly Operation[], handlers: PartialHandlers) =>
  operations.filter(({ id }) => handlerIn(handlers, id) === undefined);

/**
 * Returns the handlers, with a stand-in for each missing one. `findings` reports missing handlers
 * if `when` is `refuse`, and unused ones unless it is `mock`. `samplesFor` returns the generator of
 * error bodies of a mocked operation.
 */
export async function completeHandlers(
  document: Document,
  operations: readonly Operation[],
  handlers: PartialHandlers,
  when: WhenMissing,
  mocking: MockOptions,
) {
  const missing = withoutHandler(operations, handlers);
  const mocks = when === 'mock' && missing.length > 0 ? await import('./mock.ts') : undefined;
  const samples =
    mocks && ((media: MediaType) => mocks.sampleBodies(mocking.schemas, mocking.codecs, media));
  const standIns = missing.map((operation): [string, AnyHandler] => {
    const notImplemented = () => {
      throw new HttpError(501, `${operation.id} has no handler yet`);
    };
    return [operation.id, mocks?.mock(operation, mocking) ?? notImplemented];
  });
  const findings: Finding[] = [];
  if (when === 'refuse') {
    for (const { id, pointer } of missing) {
      const name = /^[\w.-]+$/.test(id) ? id : JSON.stringify(id);
      const message = `operation ${id} has no handler: run npm run stub -- ${name}`;
      findings.push({ pointer, message });
    }
  }
  const ids = new Set(document.operations.map(({ id }) => id));
  for (const [id, handler] of when === 'mock' ? [] : Object.entries(handlers)) {
    const message = `the handler ${id} has no operation: rename or remove it`;
    // Other members may be the state of the handlers.
    if (!ids.has(id) && typeof handler === 'function')
      findings.push({ pointer: '/paths', message });
  }
  const bound = operations.flatMap(({ id }): [string, AnyHandler][] => {
    const handler = handlerIn(handlers, id);
    return handler === undefined ? [] : [[id, handler.bind(handlers)]];
  });
  return {
    handlers: Object.fromEntries([...bound, ...standIns]) as Handlers,
    samplesFor: (operation: Operation) => (missing.includes(operation) ? samples : undefined),
    findings,
  };
}
