import type { Json } from '../document/document.ts';
import type { Caller } from '../document/handler-types.ts';
import type { Operation } from '../document/operations.ts';
import { HttpError } from '../response/http-error.ts';
import type { Credentials } from './credentials.ts';
import { Forbidden, KeysUnavailable, Unauthorized } from './errors.ts';
import { schemesOf, type Verifiers } from './schemes.ts';

/** Resolves to the caller; `undefined` for an anonymous one. @throws {HttpError} why the credentials are not accepted. */
export type Authenticate = (credentials: Credentials) => Promise<Caller | undefined>;

/**
 * Prepares the check of an operation's security requirements (OpenAPI 3.1 §4.8.30): the first alternative whose schemes
 * are all satisfied. Where credentials are optional, a request is anonymous only if it presents none: one that is wrong
 * is rejected.
 */
export function authentication(root: Json, { security }: Operation, verifiers: Verifiers): Authenticate {
  const alternatives = security
    .map((requirement) =>
      Object.entries(requirement).map(([name, scopes]) => {
        const verify = verifiers[name];
        if (verify === undefined) throw new Error(`nothing verifies credentials of the security scheme ${name}`);
        return { name, scopes, verify };
      }),
    )
    .filter(({ length }) => length > 0);
  const optional = alternatives.length < security.length;
  const schemes = schemesOf(root);

  return async (credentials) => {
    const denied: unknown[] = [];
    for (const requirements of alternatives) {
      const before = denied.length;
      let caller: Caller | undefined;
      for (const { verify, scopes } of requirements) {
        try {
          const found = await verify(credentials, scopes);
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

  /**
   * Why credentials are not accepted: what cannot be checked now (503) before what is not allowed (403) before what is
   * not accepted (401, with a challenge for each scheme that would do; RFC 9110 §11.6.1).
   */
  function denial(reasons: readonly unknown[]): HttpError {
    const unavailable = reasons.find((reason) => reason instanceof KeysUnavailable);
    if (unavailable !== undefined) {
      const headers = { 'Retry-After': unavailable.retryAfter };
      return new HttpError(503, unavailable.message, { headers, cause: unavailable });
    }
    const broken = reasons.find((reason) => !(reason instanceof Unauthorized || reason instanceof Forbidden));
    if (broken !== undefined) return new HttpError(500, 'the credentials cannot be checked', { cause: broken });
    const forbidden = reasons.find((reason) => reason instanceof Forbidden);
    if (forbidden !== undefined) {
      const challenge = `Bearer error="insufficient_scope", scope="${forbidden.scopes.join(' ')}"`;
      return new HttpError(403, forbidden.message, { headers: { 'WWW-Authenticate': challenge } });
    }
    const unauthorized = reasons.filter((reason) => reason instanceof Unauthorized);
    const told = unauthorized.find(({ presented }) => presented) ?? unauthorized[0];
    const names = new Set(alternatives.flat().map(({ name }) => name));
    const challenges = new Set([...names].map((name) => schemes.get(name)?.challenge(told?.presented === true)));
    return new HttpError(401, told?.message ?? '', { headers: { 'WWW-Authenticate': [...challenges].join(', ') } });
  }
}
