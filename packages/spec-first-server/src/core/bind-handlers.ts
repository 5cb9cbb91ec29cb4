import type { Document, Finding, MediaType, Operation } from 'openapi-document';
import type { AnyHandler } from './handlers/types.ts';
import { HttpError } from './response/http-error.ts';
import type { MockOptions } from './response/mock.ts';

/**
 * The treatment of operations without a handler: `refuse` fails the start, `501` sends that
 * status, and `mock` sends examples of the document. `next` is for `expressHandler` only: it passes
 * the request to the next handler of the Express app.
 */
export type WhenMissing = 'refuse' | '501' | 'mock' | 'next';

/** A handler may be `undefined`: then it is missing. */
export type PartialHandlers = Readonly<Record<string, AnyHandler | undefined>>;

/** The handler of an operation. */
export interface Binding {
  /** The project's handler, or a stand-in; an error is the failure of each call. */
  readonly handler: AnyHandler | HttpError;
  /** True if the project has a handler. */
  readonly isHandled: boolean;
  /** True if the next handler of an Express app gets the request. */
  readonly isPassed: boolean;
  /** For a mock: generates bodies for its error responses. */
  readonly samples: ((media: MediaType) => Iterable<unknown>) | undefined;
}

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
  return isMember && handlers[id] !== unimplemented ? handlers[id]?.bind(handlers) : undefined;
}

/**
 * Returns the handler of each operation of a document, by id. `findings` reports missing
 * handlers if `when` is `refuse`, and unused ones unless it is `mock`.
 *
 * @param broken the reasons why operations cannot be served, by id.
 */
export async function bindHandlers(
  { operations }: Document,
  broken: ReadonlyMap<string, string>,
  handlers: PartialHandlers,
  when: WhenMissing,
  mocking: MockOptions,
): Promise<{
  readonly bindings: ReadonlyMap<string, Binding>;
  readonly findings: readonly Finding[];
}> {
  const findings: Finding[] = [];
  const mocks = when === 'mock' ? await import('./response/mock.ts') : undefined;
  const isNext = when === 'next';

  function bindingOf(operation: Operation): Binding {
    const { id, pointer } = operation;
    const handler = handlerIn(handlers, id);
    const isHandled = handler !== undefined;
    const binding = { isHandled, isPassed: isNext && !isHandled, samples: undefined };
    if (binding.isPassed) {
      const reason = `another handler responds to ${id}`;
      return { ...binding, handler: new HttpError(404, 'no such path', { reason }) };
    }
    const reason = broken.get(id);
    if (reason !== undefined) {
      const message = `the document has an error: ${id} cannot be served`;
      return { ...binding, handler: new HttpError(501, message, { reason }) };
    }
    if (isHandled) return { ...binding, handler };
    if (mocks !== undefined) {
      const samples = (media: MediaType) => mocks.sampleBodies(mocking, media);
      return { ...binding, handler: mocks.mock(operation, mocking), samples };
    }
    if (when === 'refuse') {
      const name = /^[\w.-]+$/.test(id) ? id : JSON.stringify(id);
      const message = `operation ${id} has no handler: run npm run stub -- ${name}`;
      findings.push({ pointer, message });
    }
    const notImplemented = () => {
      throw new HttpError(501, `${id} has no handler yet`);
    };
    return { ...binding, handler: notImplemented };
  }

  const bindings = new Map(operations.map((operation) => [operation.id, bindingOf(operation)]));
  for (const [id, handler] of when === 'mock' ? [] : Object.entries(handlers)) {
    const message = `the handler ${id} has no operation: rename or remove it`;
    // Other members may be the state of the handlers.
    if (!bindings.has(id) && typeof handler === 'function')
      findings.push({ pointer: '/paths', message });
  }
  return { bindings, findings };
}
