import type { Json, MediaType } from 'openapi-document';
import { type DeclaredResponse, declaredFor, examplesOf, type Operation, stringifyJson } from 'openapi-document';
import type { OperationValidator } from '../validation/validator.ts';
import type { HttpError } from './http-error.ts';
import type { ErrorBody } from './problem.ts';
import { type CheckedReply, checkBody, mismatchOf } from './reply.ts';

/** An operation, as far as its answers go. */
export interface OperationContext {
  readonly root: Json;
  readonly operation: Operation;
  readonly validator: OperationValidator;
  /** Of a mock: where the document declares another body than `errorBody` makes, and has no example, one is made up. */
  readonly samples?: Samples | undefined;
}

/** Makes bodies of a media type, or of one that a range admits. */
export type Samples = (media: MediaType) => { readonly contentType: string; readonly bodies: Iterable<unknown> };

/** The reply that tells of a failure. */
export interface FailureReply extends CheckedReply {
  /** Why its body is not what `errorBody` makes. */
  readonly mismatch?: string | undefined;
}

/**
 * The reply that tells of a failure. Its body is what `errorBody` makes. Where the document declares another body for
 * the status, it is an example that the document gives, or else there is no body.
 */
export function failureReply(
  { status, message, headers, errors }: HttpError,
  errorBody: ErrorBody,
  context?: OperationContext,
  requestId?: string,
): FailureReply {
  const made = (media?: MediaType): unknown => {
    const declared = context && {
      operationId: context.operation.id,
      mediaType: media?.type,
      schema: media?.schema,
    };
    return errorBody.make({ status, message, errors, requestId }, declared);
  };
  const declared = context && declaredFor(context.operation, status);
  if (context === undefined || declared === undefined) {
    const body = made();
    const text = typeof body === 'string' ? body : stringifyJson(body);
    return { status, headers, type: errorBody.mediaType, body: text };
  }
  let mismatch: string | undefined;
  for (const { media, contentType, body, sample } of candidates(context, declared)) {
    try {
      const checked = checkBody(context.validator, declared, { status, contentType, body });
      if (checked === undefined || (media.kind === 'stream' && !media.type.includes('*') && !sample)) continue;
      return { status, headers, type: checked.type, body: checked.body, mismatch };
    } catch (error) {
      const what = mismatchOf(error);
      if (what === undefined) throw error;
      mismatch ??= what;
    }
  }
  return { status, headers, type: undefined, body: undefined, mismatch };

  function* candidates({ root, samples }: OperationContext, { media: all }: DeclaredResponse) {
    const typeOf = ({ type }: MediaType) => (type.includes('*') ? errorBody.mediaType : type);
    for (const media of all) yield { media, contentType: typeOf(media), body: made(media), sample: false };
    for (const media of all) {
      for (const { value } of examplesOf(root, media)) {
        yield { media, contentType: typeOf(media), body: value, sample: false };
      }
    }
    if (samples === undefined) return;
    for (const media of all) {
      const { contentType, bodies } = samples(media);
      for (const body of bodies) yield { media, contentType, body, sample: true };
    }
  }
}
