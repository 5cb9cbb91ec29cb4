import type { Json, MediaType } from 'openapi-document';
import { declaredFor, examplesOf, type Operation, stringifyJson } from 'openapi-document';
import type { OperationValidator } from '../validation/validator.ts';
import type { HttpError } from './http-error.ts';
import type { ErrorBody } from './problem.ts';
import { type CheckedReply, checkBody, mismatchOf } from './reply.ts';

/** An operation, as far as its answers go. */
export interface Answering {
  readonly root: Json;
  readonly operation: Operation;
  readonly validator: OperationValidator;
}

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
  { status, message, headers }: HttpError,
  errorBody: ErrorBody,
  answering?: Answering,
): FailureReply {
  const made = (media?: MediaType): unknown => {
    const declared = answering && {
      operationId: answering.operation.id,
      mediaType: media?.type,
      schema: media?.schema,
    };
    return errorBody.make({ status, message }, declared);
  };
  const declared = answering && declaredFor(answering.operation, status);
  if (answering === undefined || declared === undefined) {
    const body = made();
    const text = typeof body === 'string' ? body : stringifyJson(body);
    return { status, headers, type: errorBody.mediaType, body: text };
  }
  const candidates = [
    ...declared.media.map((media) => ({ media, body: made(media) })),
    ...declared.media.flatMap((media) =>
      examplesOf(answering.root, media).map(({ value }) => ({ media, body: value })),
    ),
  ];
  let mismatch: string | undefined;
  for (const { media, body } of candidates) {
    const range = media.type.includes('*');
    const contentType = range ? errorBody.mediaType : media.type;
    try {
      const checked = checkBody(answering.validator, declared, { status, contentType, body });
      if (checked === undefined || (media.kind === 'stream' && !range)) continue;
      return { status, headers, type: checked.type, body: checked.body, mismatch };
    } catch (error) {
      const what = mismatchOf(error);
      if (what === undefined) throw error;
      mismatch ??= what;
    }
  }
  return { status, headers, type: undefined, body: undefined, mismatch };
}
