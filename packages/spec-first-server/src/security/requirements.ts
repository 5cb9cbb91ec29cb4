import { security as eovSecurity } from 'express-openapi-validator/dist/middlewares/index.js';
import type { Json, Operation } from 'openapi-document';
import { securitySchemesOf } from 'openapi-document';
import type { Caller } from '../handlers/types.ts';
import { HttpError, Unavailable } from '../response/http-error.ts';
import type { Credentials } from './credentials.ts';
import { Forbidden, Unauthorized } from './errors.ts';
import { LastAccepted } from './last-accepted.ts';
import { BEARER, schemesOf, type Verifiers } from './schemes.ts';

/** Resolves to the caller; `undefined` for an anonymous one. Rejects if the credentials are not accepted. */
export type Authenticate = (credentials: Credentials) => Promise<Caller | undefined>;

/** What express-openapi-validator's security handlers get as the request, and what they find for each list of scopes. */
interface SecurityInput extends Credentials {
  readonly openapi: object;
  readonly callers: Map<readonly string[], Caller>;
  readonly denied: Map<readonly string[], unknown>;
}

/**
 * Prepares the check of an operation's security requirements (OpenAPI 3.1 §4.8.30): express-openapi-validator decides
 * whether an alternative is satisfied, and calls the verifiers for it. Where credentials are optional, a request is
 * anonymous only if it presents none: one that is wrong is rejected.
 */
export function authentication(root: Json, { security }: Operation, verifiers: Verifiers): Authenticate {
  // Each requirement has a list of its own, also where the document shares one by an alias of YAML.
  const alternatives = security
    .map((all) => Object.fromEntries(Object.entries(all).map(([name, scopes]) => [name, [...scopes]])))
    .filter((all) => Object.keys(all).length > 0);
  const optional = alternatives.length < security.length;
  const required = alternatives.flatMap((all) => Object.entries(all));
  const names = [...new Set(required.map(([name]) => name))];
  const unverified = names.filter((name) => verifiers[name] === undefined);
  if (unverified.length > 0) throw new Error(`nothing verifies credentials of ${unverified}`);
  const schemes = schemesOf(root);
  const handlers = names.map((name) => [
    name,
    async (request: unknown, scopes: string[]) => {
      const input = request as SecurityInput;
      try {
        const caller = await verifiers[name]?.(input, scopes);
        if (caller !== undefined) input.callers.set(scopes, caller);
      } catch (reason) {
        input.denied.set(scopes, reason);
      }
      return input.callers.has(scopes);
    },
  ]);
  // EOV reads nothing else of a document, nothing else of a request, and nothing of a response.
  const apiDoc = { components: { securitySchemes: securitySchemesOf(root) } } as never;
  const check = eovSecurity(apiDoc, Object.fromEntries(handlers));
  const openapi = { schema: { security: alternatives }, openApiRoute: '/' };
  const last = required.length === 1 && schemes.get(names[0] ?? '') === BEARER ? new LastAccepted() : undefined;

  return async ({ headers, query, cookies }) => {
    const known = last?.callerOf(headers.authorization);
    if (known !== undefined) return known;
    const input: SecurityInput = { headers, query, cookies, openapi, callers: new Map(), denied: new Map() };
    let failed = false;
    await check(input as never, undefined as never, (error?: unknown) => {
      failed = error !== undefined;
    });
    if (!failed) {
      const caller = callerOf(input.callers);
      last?.remember(headers.authorization, caller);
      return caller;
    }
    // EOV rejects a request without a credential before it calls the verifier.
    const reasons = required
      .filter(([, scopes]) => !input.callers.has(scopes))
      .map(([name, scopes]) => input.denied.get(scopes) ?? new Unauthorized(schemes.get(name)?.required ?? '', false));
    if (optional && reasons.every((reason) => reason instanceof Unauthorized && !reason.presented)) return undefined;
    throw denial(reasons);
  };

  /** The caller of the first alternative that is satisfied, preferably one with a subject. */
  function callerOf(callers: SecurityInput['callers']): Caller | undefined {
    const satisfied = alternatives.find((all) => Object.values(all).every((scopes) => callers.has(scopes))) ?? {};
    const found = Object.values(satisfied).map((scopes) => callers.get(scopes));
    return found.find((caller) => caller?.subject !== undefined) ?? found[0];
  }

  /** What cannot be checked (503, 500) comes before what is not allowed (403) and what is not accepted (401). */
  function denial(reasons: readonly unknown[]): unknown {
    const unavailable = reasons.find((reason) => reason instanceof Unavailable);
    const unchecked = reasons.find((reason) => !(reason instanceof Unauthorized || reason instanceof Forbidden));
    const forbidden = reasons.find((reason) => reason instanceof Forbidden);
    const unauthorized = reasons.filter((reason) => reason instanceof Unauthorized);
    const presented = unauthorized.find((reason) => reason.presented);
    // A challenge for each scheme that is accepted (RFC 9110 §11.6.1).
    const challenges = new Set(names.map((name) => schemes.get(name)?.challenge(presented !== undefined)));
    const headers = { 'WWW-Authenticate': [...challenges].join(', ') };
    const message = (presented ?? unauthorized[0])?.message ?? '';
    return unavailable ?? unchecked ?? forbidden ?? new HttpError(401, message, { headers });
  }
}
