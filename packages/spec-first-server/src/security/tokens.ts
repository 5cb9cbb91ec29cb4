import { hash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { Caller } from '../document/handler-types.ts';
import { Unavailable } from '../response/http-error.ts';

/** No credential, or one that is not accepted: 401. The message is fit for the client and never holds the credential. */
export class Unauthorized extends Error {
  override readonly name = 'Unauthorized';
  /** Whether a bearer token was presented at all: only then does the challenge say `invalid_token` (RFC 6750 §3.1). */
  readonly presented: boolean;

  constructor(message: string, presented = true) {
    super(message);
    this.presented = presented;
  }
}

/** A valid token without the scopes that the operation needs: 403, `insufficient_scope` (RFC 6750 §3.1). */
export class Forbidden extends Error {
  override readonly name = 'Forbidden';
  /** All scopes that the operation needs, for the challenge's `scope` attribute. */
  readonly scopes: readonly string[];

  constructor(scopes: readonly string[]) {
    super(`The token lacks a scope: this operation needs ${scopes.join(' ')}`);
    this.scopes = scopes;
  }
}

/** A signed token cannot be judged because its issuer's keys cannot be had: 503. The cause is for the log. */
export class KeysUnavailable extends Unavailable {
  override readonly name = 'KeysUnavailable';

  constructor(retryAfter: number, cause: Error) {
    super(
      'The keys that signed tokens are checked with cannot be fetched at the moment; try again later',
      retryAfter,
      cause,
    );
  }
}

/** Where the keys of signed tokens are, and what their claims must say. */
export interface JwtSettings {
  /** A JSON Web Key Set (RFC 7517 §5): https, or plain http on this machine. */
  readonly jwksUrl: URL;
  /** The `iss` claim that is accepted; undefined accepts any. */
  readonly issuer: string | undefined;
  /** A value that the `aud` claim must be or hold; undefined accepts any. */
  readonly audience: string | undefined;
}

/** Which credentials are accepted. With none at all, every call is refused. */
export interface AuthSettings {
  /** The entries of ACCESS_TOKENS: a token in plain text or `sha256:` and the 64 hex digits of its digest. */
  readonly accessTokens: readonly string[];
  /** A file of such entries, one a line; `#` starts a comment. */
  readonly accessTokensFile: string | undefined;
  readonly jwt: JwtSettings | undefined;
}

/** Tells who presents a token. */
export interface Authenticator {
  /**
   * Judges an access token at once, a signed token as a promise.
   *
   * @param scopes - what the operation needs; the caller must have all of them
   * @throws Unauthorized, Forbidden, KeysUnavailable: at once or as a rejection
   */
  verify(token: string, scopes: readonly string[]): Caller | Promise<Caller>;
  /**
   * Reads ACCESS_TOKENS_FILE again: tokens that it no longer holds are refused from then on, so an empty file revokes
   * them all.
   *
   * @returns how many access tokens are accepted now
   * @throws Error if the file cannot be read or a line is wrong; the tokens stay as they were
   */
  reload(): Promise<number>;
}

/** Longer tokens are refused unread: half of what Node accepts as all headers together. */
const MAX_TOKEN_LENGTH = 8192;

/** RFC 6750 §2.1. The alphabets of its parts are disjoint, so a match costs one pass. */
const CREDENTIALS = /^bearer +([\w\-.~+/]+=*)$/i;
const TOKEN = /^[\w\-.~+/]+=*$/;
const DIGEST = /^sha256:([0-9a-f]{64})$/i;

const LOOPBACK = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** What a client learns that sends no bearer token where one is needed. */
export const TOKEN_REQUIRED = 'A bearer token is required, in a header "Authorization: Bearer <token>"';

const ANYTHING: Caller = Object.freeze({ subject: undefined, scopes: 'all' });

/** A token that cannot be guessed: 256 random bits in base64url, safe in a shell and in a header. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Takes the token out of an Authorization header: the scheme in any case, one or more spaces, a b64token, nothing else
 * (RFC 6750 §2.1, RFC 9110 §11.4).
 *
 * @throws Unauthorized, as not presented when the header is missing or of another scheme
 */
export function bearerToken(authorization: string | undefined): string {
  const token = authorization === undefined ? undefined : CREDENTIALS.exec(authorization)?.[1];
  if (token !== undefined) return token;
  const presented = authorization !== undefined && /^bearer(?![\w\-!#$%&'*+.^`|~])/i.test(authorization);
  throw new Unauthorized(
    presented
      ? 'The Authorization header is malformed: it must be "Bearer", a space and the token, which is made of letters, digits and -._~+/ with = only at its end'
      : TOKEN_REQUIRED,
    presented,
  );
}

/**
 * Accepts access tokens and, if settings.jwt is there, signed tokens beside them.
 *
 * Access tokens are found by a second digest, keyed with random bytes of this process, of their SHA-256 digest. Nobody
 * outside can compute it or come near it step by step, so the time that the look-up takes tells nothing about a token,
 * and it stays the same with any number of them.
 *
 * @param report - told each time that the keys of signed tokens cannot be fetched, at most every few seconds; the
 *   cause says why
 * @throws Error, fit for the operator, if a setting is wrong; it names the place, never a token
 */
export async function createAuthenticator(
  settings: AuthSettings,
  report: (error: KeysUnavailable) => void = () => {},
): Promise<Authenticator> {
  const key = randomToken();
  const keyed = (digest: string) => hash('sha256', key + digest);

  const fixed = settings.accessTokens.flatMap((entry, index) =>
    digests(entry, `ACCESS_TOKENS: entry ${index + 1}`).map(keyed),
  );
  const { accessTokensFile } = settings;
  const load = async () => {
    const read = accessTokensFile === undefined ? [] : (await digestsOfFile(accessTokensFile)).map(keyed);
    return new Set([...fixed, ...read]);
  };
  let accepted = await load();
  if (accepted.size === 0 && accessTokensFile !== undefined && settings.jwt === undefined) {
    throw new Error('ACCESS_TOKENS_FILE holds no token, so every call would be refused: put one on a line of it');
  }
  let reloading: Promise<unknown> = Promise.resolve();

  const jwt = settings.jwt && (await jwtVerifier(settings.jwt, report));

  return {
    verify(token, scopes) {
      if (token.length > MAX_TOKEN_LENGTH) {
        throw new Unauthorized(`The token is longer than ${MAX_TOKEN_LENGTH} characters`);
      }
      if (accepted.has(keyed(hash('sha256', token)))) return ANYTHING;
      if (jwt === undefined) throw new Unauthorized('The token is not valid');
      return jwt(token).then((caller) => permitted(caller, scopes));
    },

    reload() {
      // One after the other, so that the file as it was read last is what counts.
      const reloaded = reloading.then(async () => {
        accepted = await load();
        return accepted.size;
      });
      reloading = reloaded.catch(() => {});
      return reloaded;
    },
  };
}

function permitted(caller: Caller, needed: readonly string[]): Caller {
  const { scopes } = caller;
  if (scopes !== 'all' && !needed.every((scope) => scopes.has(scope))) throw new Forbidden(needed);
  return caller;
}

/** The digest of the token in an entry, in hex; nothing for an empty entry. */
function digests(entry: string, place: string): string[] {
  const text = entry.trim();
  if (text === '') return [];
  const digest = DIGEST.exec(text)?.[1];
  if (digest !== undefined) return [digest.toLowerCase()];
  if (TOKEN.test(text) && text.length <= MAX_TOKEN_LENGTH) return [hash('sha256', text)];
  throw new Error(
    `${place} is neither a token (up to ${MAX_TOKEN_LENGTH} letters, digits and -._~+/ with = only at its end) nor "sha256:" and 64 hex digits`,
  );
}

async function digestsOfFile(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    // Not the path: whoever takes this variable for ACCESS_TOKENS has put a token there.
    const seenFrom = isAbsolute(file) ? '' : `, looked for from ${process.cwd()}`;
    throw new Error(`ACCESS_TOKENS_FILE cannot be read (${error.code ?? 'unknown error'}${seenFrom})`);
  });
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .flatMap((line, index) => digests(line.replace(/(^|\s)#.*$/, ''), `ACCESS_TOKENS_FILE: line ${index + 1}`));
}

async function jwtVerifier(settings: JwtSettings, report: (error: KeysUnavailable) => void) {
  const { protocol, hostname, host, username, password } = settings.jwksUrl;
  if (username !== '' || password !== '') {
    throw new Error(`JWKS_URL holds a user name or a password for ${host}: keys are public and fetched without them`);
  }
  if (protocol !== 'https:' && !(protocol === 'http:' && LOOPBACK.test(hostname))) {
    throw new Error(
      `JWKS_URL is a ${protocol} address${host && ` at ${host}`}: it must start with https://, or with http:// if the host is this machine (localhost, 127.0.0.1, [::1]), since keys that come in the clear can be forged`,
    );
  }
  const { createJwtVerifier } = await import('./jwt.ts');
  return createJwtVerifier(settings, report);
}
