import { security } from 'express-openapi-validator/dist/middlewares/index.js';

/** What a check of credentials looks at. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly cookies: Readonly<Record<string, unknown>>;
}

/** Checks one credential and returns its caller. Throws the reason if the credential is not accepted. */
export type VerifyScheme<Caller> = (credentials: Credentials, scopes: readonly string[]) => Caller | Promise<Caller>;

/** No alternative of the security requirements is satisfied. Holds the errors of the schemes, in the document's order. */
export class CredentialsDenied extends Error {
  override readonly name = 'CredentialsDenied';
  readonly reasons: readonly unknown[];

  constructor(message: string, reasons: readonly unknown[]) {
    super(message);
    this.reasons = reasons;
  }
}

/** A request as EOV's security handlers get it, and what the verifiers found. */
interface SecurityInput<Caller> extends Credentials {
  readonly openapi: object;
  readonly callers: Map<string, Caller>;
  readonly reasons: unknown[];
}

/**
 * Makes the check of credentials for the operations of a document. EOV calls the verifiers and decides whether the
 * security requirements are satisfied.
 *
 * @returns resolves to the callers by scheme. @throws {CredentialsDenied}
 */
export function credentialCheck<Caller>(
  apiDoc: Parameters<typeof security>[0],
  verifiers: Readonly<Record<string, VerifyScheme<Caller>>>,
) {
  const handlers = Object.entries(verifiers).map(([name, verify]) => [
    name,
    async (request: unknown, scopes: string[]) => {
      const input = request as SecurityInput<Caller>;
      try {
        input.callers.set(name, await verify(input, scopes));
        return true;
      } catch (error) {
        input.reasons.push(error);
        throw error;
      }
    },
  ]);
  const authenticate = security(apiDoc, Object.fromEntries(handlers));

  return async ({ headers, query, cookies }: Credentials, openapi: object): Promise<ReadonlyMap<string, Caller>> => {
    const input: SecurityInput<Caller> = { headers, query, cookies, openapi, callers: new Map(), reasons: [] };
    let denied: unknown;
    // EOV reads nothing else of a request, and nothing of the response.
    await authenticate(input as never, undefined as never, (error?: unknown) => {
      denied = error;
    });
    if (denied === undefined) return input.callers;
    throw new CredentialsDenied(denied instanceof Error ? denied.message : String(denied), input.reasons);
  };
}
