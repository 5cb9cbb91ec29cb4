import type { Response } from 'express';
import { declaredFor, type Operation } from '../document/operations.ts';
import { stringifyJson } from '../json/exact.ts';
import type { OperationValidator } from '../validation/validator.ts';
import { failureOf, internal } from './errors.ts';
import { type HttpError, InvalidReply } from './http-error.ts';
import type { ErrorBody } from './problem.ts';
import { type CheckedReply, checkReply, send } from './reply.ts';
import { traceOf } from './trace.ts';

/** An operation, as far as its answers go. */
export interface Answering {
  readonly operation: Operation;
  readonly validator: OperationValidator<unknown>;
}

/**
 * Answers with what an error means to the client, in the document's own form, and leaves its cause to the log. An answer
 * that has begun is cut off: what follows could only be taken for a part of it.
 *
 * @param answering the operation, where the request has come that far: its declared failures are what may be answered.
 */
export async function answerFailure(
  response: Response,
  error: unknown,
  errorBody: ErrorBody,
  answering?: Answering,
): Promise<void> {
  const trace = traceOf(response);
  trace.failure = failureOf(error);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  let reply: CheckedReply;
  try {
    reply = await failureReply(trace.failure, errorBody, answering);
  } catch (broken) {
    trace.failure = internal(broken);
    reply = await brokenReply(trace.failure, errorBody, answering);
  }
  await send(response, reply);
}

/** The reply that tells that the one meant to tell of a failure was broken. */
async function brokenReply(failure: HttpError, errorBody: ErrorBody, answering?: Answering): Promise<CheckedReply> {
  try {
    return await failureReply(failure, errorBody, answering);
  } catch {
    return LAST_RESORT;
  }
}

/**
 * The reply that tells of a failure. Where the document declares the status without a body it has none.
 *
 * @throws {InvalidReply} if the document declares the status, but not with such a body.
 */
export async function failureReply(
  failure: HttpError,
  errorBody: ErrorBody,
  answering?: Answering,
): Promise<CheckedReply> {
  const { status, headers } = failure;
  const declared = answering && declaredFor(answering.operation, status);
  if (answering === undefined || declared === undefined) return undeclared(failure, errorBody);
  const { operation, validator } = answering;
  if (declared.media.length === 0) return checkReply(operation, validator, { status, headers });
  const body = errorBody.make({ status, message: failure.message });
  const kind = typeof body === 'string' ? 'text' : 'json';
  const media = declared.media.find((candidate) => candidate.kind === kind);
  const range = declared.media.find(({ type }) => type === '*/*' || type === 'application/*');
  if (media === undefined && range === undefined) {
    throw new InvalidReply(
      `${operation.id} declares ${declared.key} as ${declared.media.map(({ type }) => type)}, not ${kind}`,
    );
  }
  return checkReply(operation, validator, { status, headers, contentType: media?.type ?? errorBody.mediaType, body });
}

function undeclared({ status, message, headers }: HttpError, errorBody: ErrorBody): CheckedReply {
  const body = errorBody.make({ status, message });
  const text = typeof body === 'string' ? body : stringifyJson(body);
  return { status, headers: { ...headers, 'Content-Type': errorBody.mediaType }, body: text };
}

/** Where the function that makes error bodies fails itself. */
const LAST_RESORT: CheckedReply = {
  status: 500,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ error: 500, message: 'the service failed; the fault is not in the request' }),
};
