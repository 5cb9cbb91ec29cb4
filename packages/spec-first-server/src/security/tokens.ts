import type { Caller } from '../handlers/types.ts';
import { AccessTokens, MAX_TOKEN_LENGTH } from './access-tokens.ts';
import { Forbidden, type KeysUnavailable, Unauthorized } from './errors.ts';
import type { JwtSettings } from './jwt.ts';

/** Which tokens are accepted. Without any, every call is rejected. */
export interface AuthSettings {
  /** The entries of ACCESS_TOKENS: a token, or `sha256:` and the 64 hex digits of its digest; before it perhaps `name:`. */
  readonly accessTokens: readonly string[];
  /** A file of such entries, one a line; `#` starts a comment. */
  readonly accessTokensFile?: string | undefined;
  readonly jwt?: JwtSettings | undefined;
}

/** Tells who presents a token. */
export interface Authenticator {
  /**
   * Checks an access token at once, a signed token as a promise.
   *
   * @param scopes what the operation needs; the caller must have all of them.
   * @throws {Unauthorized | Forbidden | KeysUnavailable} at once or as a rejection.
   */
  verify(token: string, scopes: readonly string[]): Caller | Promise<Caller>;
  /**
   * Reads ACCESS_TOKENS_FILE again. Resolves to the number of access tokens that are accepted now.
   *
   * @throws {Error} if the file cannot be read, a line is wrong, or no token is left. The tokens stay as they were.
   */
  reload(): Promise<number>;
  /** How many access tokens are short enough to be guessed, as far as it is known. */
  readonly shortTokens?: number;
}

/**
 * Accepts access tokens and signed tokens.
 *
 * @param report is told each time that the keys of signed tokens cannot be fetched; the cause says why.
 * @throws {Error} fit for the operator, if a setting is wrong. It names the place, never a token.
 */
export async function createAuthenticator(
  { accessTokens, accessTokensFile, jwt }: AuthSettings,
  report: (error: KeysUnavailable) => void = () => {},
): Promise<Authenticator> {
  const accepted = new AccessTokens(accessTokens, accessTokensFile);
  if ((await accepted.load()) === 0 && accessTokensFile !== undefined && jwt === undefined) {
    throw new Error('ACCESS_TOKENS_FILE holds no token, so every call would be rejected: put one on a line of it');
  }
  const verifySigned = jwt && (await import('./jwt.ts')).createJwtVerifier(jwt, report);
  return {
    verify(token, scopes) {
      if (token.length > MAX_TOKEN_LENGTH) {
        throw new Unauthorized(`The token is longer than ${MAX_TOKEN_LENGTH} characters`);
      }
      const known = accepted.callerOf(token);
      if (known !== undefined) return known;
      if (verifySigned === undefined) throw new Unauthorized('The token is not valid');
      return verifySigned(token).then((caller) => {
        if (caller.scopes !== 'all' && !caller.scopes.isSupersetOf(new Set(scopes))) throw new Forbidden(scopes);
        return caller;
      });
    },
    reload: () => accepted.load(),
    get shortTokens() {
      return accepted.short;
    },
  };
}
