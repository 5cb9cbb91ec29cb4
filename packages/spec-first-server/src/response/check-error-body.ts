import { type DeclaredResponse, declaredFor, type Finding, type Json, type Operation } from 'openapi-document';
import type { OperationValidator } from '../validation/validator.ts';
import { failureReply } from './failure-reply.ts';
import { HttpError } from './http-error.ts';
import type { ErrorBody } from './problem.ts';
import { checkHeaders, mismatchOf } from './reply.ts';

/** What the service itself may answer instead of an operation's handler. */
const FAILURES = [
  ...[400, 403, 413, 415, 500].map((status) => new HttpError(status, 'an example of a failure')),
  new HttpError(401, 'an example of a failure', { headers: { 'WWW-Authenticate': 'Bearer' } }),
  new HttpError(503, 'an example of a failure', { headers: { 'Retry-After': 1 } }),
];

/**
 * Finds the declared failures that the service itself may answer with, but not as the document declares them. Each
 * declared form is tried once, however many operations share it.
 */
export function checkErrorBody(
  root: Json,
  operations: readonly Operation[],
  validatorOf: (operation: Operation) => OperationValidator,
  errorBody: ErrorBody,
): Finding[] {
  const tried = new Set<string>();
  const findings = new Map<string, string>();
  for (const operation of operations) {
    for (const failure of FAILURES) {
      const declared = declaredFor(operation, failure.status);
      if (declared === undefined || !mayAnswer(operation, failure.status) || findings.has(declared.pointer)) continue;
      const form = JSON.stringify([failure.status, formOf(declared)]);
      if (tried.has(form)) continue;
      tried.add(form);
      const validator = validatorOf(operation);
      const { mismatch, body } = failureReply(failure, errorBody, { root, operation, validator });
      if (mismatch !== undefined) {
        const instead = body === undefined ? 'without a body' : 'with the example of the document';
        const message = `errorBody makes another body than this, so the service answers ${instead}: ${mismatch}`;
        findings.set(declared.pointer, message);
      }
      try {
        checkHeaders(validator, declared, failure.headers);
      } catch (error) {
        const message = `the service answers with this too, without these headers: ${mismatchOf(error)}`;
        findings.set(declared.pointer, message);
      }
    }
  }
  return [...findings].map(([pointer, message]) => ({ pointer, message }));
}

function mayAnswer({ security, requestBody }: Operation, status: number): boolean {
  if (status === 401 || status === 403) return security.length > 0;
  return (status !== 413 && status !== 415) || requestBody !== undefined;
}

const formOf = ({ headers, media }: DeclaredResponse): unknown => [
  headers.map(({ name, required, schema }) => [name, required, schema]),
  media.map(({ type, schema, source }) => [type, schema, source.example, source.examples]),
];
