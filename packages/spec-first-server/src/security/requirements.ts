import type { Json, Operation } from 'openapi-document';
import type { Caller } from '../handlers/types.ts';
import { HttpError, Unavailable } from '../response/http-error.ts';
import type { Credentials } from './credentials.ts';
import { Forbidden, Unauthorized } from './errors.ts';
import { schemesOf, type Verifiers } from './schemes.ts';

/** Resolves to the caller; `undefined` for an anonymous one. Rejects if the credentials are not accepted. */
export type Authenticate = (credentials: Credentials) => Promise<Caller | undefined>;

/**
 * Prepares the check of an operation's security requirements (OpenAPI 3.1 §4.8.30): the first alternative whose schemes
 * are all satisfied. Where credentials are optional, a request is anonymous only if it presents none: one that is wrong
 * is rejected.
 */
export function authentication(root: Json, { security }: Operation, verifiers: Verifiers): Authenticate {
  const alternatives = security.map((schemes) => Object.entries(schemes)).filter(({ length }) => length > 0);
  const optional = alternatives.length < security.length;
  const names = new Set(alternatives.flat().map(([name]) => name));
  const schemes = [...schemesOf(root)].flatMap(([name, scheme]) => (names.has(name) ? scheme : []));
  const unverified = names.difference(new Set(Object.keys(verifiers)));
  if (unverified.size > 0) throw new Error(`nothing verifies credentials of ${[...unverified]}`);

  return async (credentials) => {
    const denied: unknown[] = [];
    for (const requirements of alternatives) {
      const before = denied.length;
      let caller: Caller | undefined;
      for (const [name, scopes] of requirements) {
        try {
          const found = await verifiers[name]?.(credentials, scopes);
          if (caller?.subject === undefined) caller = found;
        } catch (reason) {
          denied.push(reason);
        }
      }
      if (denied.length === before) return caller;
    }
    if (optional && denied.every((reason) => reason instanceof Unauthorized && !reason.presented)) return undefined;
    throw denial(denied);
  };

  /** What cannot be checked (503, 500) comes before what is not allowed (403) and what is not accepted (401). */
  function denial(reasons: readonly unknown[]): unknown {
    const unavailable = reasons.find((reason) => reason instanceof Unavailable);
    const unchecked = reasons.find((reason) => !(reason instanceof Unauthorized || reason instanceof Forbidden));
    const forbidden = reasons.find((reason) => reason instanceof Forbidden);
    const unauthorized = reasons.filter((reason) => reason instanceof Unauthorized);
    const presented = unauthorized.find((reason) => reason.presented);
    // A challenge for each scheme that is accepted (RFC 9110 §11.6.1).
    const challenges = new Set(schemes.map(({ challenge }) => challenge(presented !== undefined)));
    const headers = { 'WWW-Authenticate': [...challenges].join(', ') };
    const message = (presented ?? unauthorized[0])?.message ?? '';
    return unavailable ?? unchecked ?? forbidden ?? new HttpError(401, message, { headers });
  }
}
