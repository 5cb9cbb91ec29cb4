import {
  type DeclaredResponse,
  declaredFor,
  type Finding,
  type MediaType,
  type Operation,
  stringifyJson,
} from 'openapi-document';
import type { Problem } from '../http-server/index.ts';
import type { OperationValidator } from '../validation/validator.ts';
import { HttpError } from './http-error.ts';
import { type CheckedReply, checkBody, mismatchOf } from './reply.ts';

export { PROBLEM_DETAILS, type Problem } from '../http-server/index.ts';

/** What the document declares for a failure of an operation. */
export interface DeclaredProblem {
  readonly operationId: string;
  /** The declared media type; `undefined` if the document does not declare this status. */
  readonly mediaType: string | undefined;
  /** The declared Schema Object, perhaps a `$ref`. */
  readonly schema: unknown;
}

/** How a problem becomes the document's error body. */
export interface ErrorBody {
  /** The media type of what `make` returns, where the document does not declare another. */
  readonly mediaType: string;
  /** @param declared what the document declares for it, where the request has reached an operation. */
  readonly make: (problem: Problem, declared?: DeclaredProblem) => unknown;
}

/** An operation, as far as its answers go. */
export interface OperationContext {
  readonly operation: Operation;
  readonly validator: OperationValidator;
  /** Of a mock: where the document declares another body than `errorBody` makes, and has no example, one is made up. */
  readonly samples?: Samples | undefined;
}

/** Makes bodies of a media type. */
export type Samples = (type: string, media: MediaType) => Iterable<unknown>;

/**
 * The reply that tells of a failure. Its body is what `errorBody` makes. Where the document declares another body for
 * the status, it is an example that the document gives, or else there is no body; `mismatch` says why.
 */
export function failureReply(
  { status, message, headers, errors }: HttpError,
  errorBody: ErrorBody,
  context?: OperationContext,
  requestId?: string,
): CheckedReply & { readonly mismatch?: string | undefined } {
  const made = (media?: MediaType): unknown => {
    const operationId = context?.operation.id;
    const declared =
      operationId === undefined ? undefined : { operationId, mediaType: media?.type, schema: media?.schema };
    return errorBody.make({ status, message, errors, requestId }, declared);
  };
  const declared = context && declaredFor(context.operation, status);
  if (context === undefined || declared === undefined) {
    const body = made();
    return { status, headers, type: errorBody.mediaType, body: typeof body === 'string' ? body : stringifyJson(body) };
  }
  let mismatch: string | undefined;
  for (const { contentType, body } of candidates(context, declared)) {
    try {
      const checked = checkBody(context.validator, declared, { status, contentType, body });
      if (checked !== undefined) return { status, headers, ...checked, mismatch };
    } catch (error) {
      const what = mismatchOf(error);
      if (what === undefined) throw error;
      mismatch ??= what;
    }
  }
  return { status, headers, type: undefined, body: undefined, mismatch };

  function* candidates({ samples }: OperationContext, { media: all }: DeclaredResponse) {
    const declared = all.map((media) => ({
      media,
      contentType: media.type.includes('*') ? errorBody.mediaType : media.type,
    }));
    for (const each of declared) yield { ...each, body: made(each.media) };
    for (const each of declared) for (const { value } of each.media.examples()) yield { ...each, body: value };
    if (samples === undefined) return;
    for (const each of declared) for (const body of samples(each.contentType, each.media)) yield { ...each, body };
  }
}

/** What the service itself may answer instead of an operation's handler. */
const OWN = [400, 401, 403, 413, 415, 500, 503].map((status) => new HttpError(status, 'an example of a failure'));

/**
 * Finds the declared failures that the service itself may answer with, but not as the document declares them. Each
 * declared form is tried once, however many operations share it.
 */
export function checkErrorBody(
  operations: readonly Operation[],
  validatorOf: (operation: Operation) => OperationValidator,
  errorBody: ErrorBody,
): Finding[] {
  const tried = new Set<string>();
  const findings = new Map<string, string>();
  for (const operation of operations) {
    for (const failure of OWN) {
      const declared = declaredFor(operation, failure.status);
      const form = stringifyJson([failure.status, declared?.media.map(({ type, source }) => [type, source])]);
      if (declared === undefined || form === undefined || tried.has(form)) continue;
      tried.add(form);
      const context = { operation, validator: validatorOf(operation) };
      const { mismatch, body } = failureReply(failure, errorBody, context);
      if (mismatch === undefined || findings.has(declared.pointer)) continue;
      const instead = body === undefined ? 'without a body' : 'with the example of the document';
      const message = `errorBody makes another body than this, so the service answers ${instead}: ${mismatch}`;
      findings.set(declared.pointer, message);
    }
  }
  return [...findings].map(([pointer, message]) => ({ pointer, message }));
}
