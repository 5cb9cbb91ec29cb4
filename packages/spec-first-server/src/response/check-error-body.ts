import type { Finding } from '../document/document.ts';
import type { Caller } from '../document/handler-types.ts';
import { declaredFor } from '../document/operations.ts';
import type { Contract } from '../routing/router.ts';
import { failureReply } from './failures.ts';
import { HttpError } from './http-error.ts';
import type { ErrorBody } from './problem.ts';

/** What the service itself may answer in place of an operation's handler. */
const FAILURES = [
  new HttpError(400, '/body/id must be integer'),
  new HttpError(401, 'A bearer token is required', { headers: { 'WWW-Authenticate': 'Bearer' } }),
  new HttpError(403, 'The token lacks a scope'),
  new HttpError(413, 'the body is too large'),
  new HttpError(415, 'the body must be application/json'),
  new HttpError(500, 'the service failed'),
  new HttpError(503, 'the store cannot answer now', { headers: { 'Retry-After': 1 } }),
];

/**
 * Proves that what `errorBody` makes is what the document declares for each failure that the service itself may answer
 * with. Each declared form is tried once, however many operations share it.
 */
export async function proveErrorBody(contract: Contract<Caller>, errorBody: ErrorBody): Promise<Finding[]> {
  const tried = new Set<string>();
  const findings: Finding[] = [];
  for (const operation of contract.operations) {
    for (const failure of FAILURES) {
      const declared = declaredFor(operation, failure.status);
      if (declared === undefined || findings.some(({ pointer }) => pointer === declared.pointer)) continue;
      const form = JSON.stringify([
        failure.status,
        declared.headers.map(({ name, required, schema }) => [name, required, schema]),
        declared.media.map(({ type, schema }) => [type, schema]),
      ]);
      if (tried.has(form)) continue;
      tried.add(form);
      try {
        await failureReply(failure, errorBody, { operation, validator: await contract.validator(operation) });
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        findings.push({
          pointer: declared.pointer,
          message: why.includes('/headers/')
            ? `the service answers with this too, without such headers: let them be optional: ${why}`
            : `errorBody in src/errors.ts makes another body than this: ${why}`,
        });
      }
    }
  }
  return findings;
}
