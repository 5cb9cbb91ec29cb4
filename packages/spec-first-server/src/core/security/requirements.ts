import { escapePointerToken, type Finding, type Operation } from 'openapi-document';
import type { Caller } from '../handlers/types.ts';
import { Forbidden, HttpError, Unauthorized } from '../response/http-error.ts';
import type { CallWithCredentials } from './places.ts';
import type { Schemes } from './schemes.ts';

/** Matches `Basic x, Bearer y`. Some proxies join two Authorization headers in this way. */
const SEVERAL_CREDENTIALS = /,\s*[\w-]+ +[^\s=,]/;

/** @throws {HttpError} 400 for several credentials, since a proxy may have checked another one. */
function checkAuthorization(authorization: string): void {
  if (SEVERAL_CREDENTIALS.test(authorization.replace(/"[^"]*"/g, '""')))
    throw new HttpError(400, 'the header authorization must have one credential');
}

const schemesIn = (operations: readonly Operation[]) =>
  new Set(operations.flatMap(({ security }) => security.flatMap(Object.keys)));

export const unverifiedSchemes = (operations: readonly Operation[], schemes: Schemes): Finding[] =>
  [...schemesIn(operations)]
    .filter((name) => schemes.get(name)?.isVerified === false)
    .map((name) => ({
      pointer: `/components/securitySchemes/${escapePointerToken(name)}`,
      message:
        'nothing verifies credentials of this scheme: ' +
        `add verifiers: { ${JSON.stringify(name)}: … } to the options or to the result of open`,
    }));

export function challengesOf(operation: Operation, schemes: Schemes) {
  const names = [...schemesIn([operation])];
  return (presented: boolean): string =>
    [...new Set(names.map((name) => schemes.get(name)?.challenge(presented)))].join(', ');
}

/** The callers of a request. */
export interface Authenticated {
  /** The first caller with a subject, or else the first one. */
  readonly caller: Caller;
  /** By security scheme, if the alternative requires several. */
  readonly callers: Readonly<Record<string, Caller>> | undefined;
}

/**
 * Prepares the check of an operation's security requirements (OpenAPI 3.1 §4.8.30): the callers are
 * those of the first alternative whose credentials are all accepted; `undefined` if credentials are
 * optional and the request has none. If a scheme of the operation uses the Authorization header,
 * this header is a credential even if it names another scheme.
 */
export function authentication(operation: Operation, schemes: Schemes, isMock: boolean) {
  const requirements = operation.security.map((requirement) =>
    Object.entries(requirement).map(([name, scopes]) => ({
      name,
      verify: verifierOf(name),
      scopes,
    })),
  );
  const alternatives = requirements.filter((checks) => checks.length > 0);
  const isOptional = alternatives.length < requirements.length;
  const usesAuthorization = [...schemesIn([operation])].some(
    (name) => schemes.get(name)?.usesAuthorization,
  );
  const [[only, ...others] = [], ...alternative] = requirements;

  /**
   * Returns the caller of the only scheme synchronously if its verifier does: the body is then read
   * in the same round of the event loop, before the end of a connection that the client closes.
   */
  return (
    call: CallWithCredentials,
  ): Authenticated | undefined | Promise<Authenticated | undefined> => {
    if (requirements.length === 0) return undefined;
    const { authorization } = call.headers;
    if (authorization?.includes(',')) checkAuthorization(authorization);
    if (only === undefined || others.length + alternative.length > 0) return authenticate(call);
    const verified = only.verify(call, only.scopes);
    return 'then' in verified
      ? verified.then((caller) => ({ caller, callers: undefined }))
      : { caller: verified, callers: undefined };
  };

  async function authenticate(call: CallWithCredentials): Promise<Authenticated | undefined> {
    let isPresented = usesAuthorization && Boolean(call.headers.authorization);
    const failures: unknown[][] = [];
    for (const checks of alternatives) {
      const callers: [scheme: string, caller: Caller][] = [];
      const errors: unknown[] = [];
      for (const { name, verify, scopes } of checks) {
        try {
          callers.push([name, await verify(call, scopes)]);
          isPresented = true;
        } catch (error) {
          errors.push(error);
        }
      }
      const [first] = callers;
      if (errors.length === 0 && first !== undefined) {
        const [, caller] = callers.find(([, { subject }]) => subject !== undefined) ?? first;
        return { caller, callers: callers.length > 1 ? Object.fromEntries(callers) : undefined };
      }
      failures.push(errors);
    }
    if (isOptional && !isPresented && failures.flat().every(isAbsence)) return undefined;
    throw mostImportant(failures);
  }

  function verifierOf(name: string) {
    const scheme = schemes.get(name);
    if (scheme === undefined || !(isMock || scheme.isVerified))
      throw new Error(`nothing verifies ${name}`);
    return scheme.verify;
  }
}

const isAbsence = (error: unknown): error is Unauthorized =>
  error instanceof Unauthorized && !error.presented;

/**
 * Returns the most important error. An error of another kind, such as a check that failed to run
 * (503, 500) or a repeated API key (400), has priority over Forbidden. Forbidden has priority over
 * a rejected credential (401). If all credentials are missing, the error names those of each
 * alternative.
 *
 * @param failures the errors of each alternative.
 */
function mostImportant(failures: readonly (readonly unknown[])[]): unknown {
  const errors = failures.flat();
  const absences = failures.map((alternative) =>
    alternative
      .filter(isAbsence)
      .map(({ message }) => message)
      .join('. '),
  );
  return (
    errors.find((error) => !(error instanceof Unauthorized || error instanceof Forbidden)) ??
    errors.find((error) => error instanceof Forbidden) ??
    errors.find((error) => !isAbsence(error)) ??
    new Unauthorized([...new Set(absences)].join('. Or: '), false)
  );
}
