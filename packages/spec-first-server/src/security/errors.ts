import { HttpError } from '../response/http-error.ts';

/** No credential, or one that is not accepted: 401. The message goes to the client and never holds the credential. */
export class Unauthorized extends Error {
  override readonly name = 'Unauthorized';
  /** Whether a credential was presented: only then does the challenge say `invalid_token` (RFC 6750 §3.1). */
  readonly presented: boolean;

  constructor(message: string, presented = true) {
    super(message);
    this.presented = presented;
  }
}

/** A valid token without the scopes that the operation needs: 403, `insufficient_scope` (RFC 6750 §3.1). */
export class Forbidden extends HttpError {
  /** @param scopes all that the operation needs. */
  constructor(scopes: readonly string[]) {
    const needed = scopes.join(' ');
    // A header holds no other characters than those of a URI.
    const scope = encodeURI(needed.toWellFormed());
    const headers = { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` };
    super(403, `The token lacks a scope: this operation needs ${needed}`, { headers });
  }
}
