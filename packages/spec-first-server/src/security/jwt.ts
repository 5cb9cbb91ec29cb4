import type { JWTVerifyGetKey, JWTVerifyResult } from 'jose';
import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, jwtVerify } from 'jose';
import type { Caller } from '../handlers/types.ts';
import { HttpError, Unauthorized } from '../response/http-error.ts';

/** Where the keys of signed tokens are, and what their claims must say. */
export interface JwtSettings {
  /** A JSON Web Key Set (RFC 7517 §5): https, or plain http on this machine. */
  readonly jwksUrl: URL;
  /** The `iss` claim that is accepted; undefined accepts any. */
  readonly issuer: string | undefined;
  /** A value that the `aud` claim must be or hold; undefined accepts any. */
  readonly audience: string | undefined;
}

/** How long things take and last, in milliseconds. */
const TIMING = {
  /** A fetch that takes longer has failed. */
  timeoutDuration: 5_000,
  /** For so long after a fetch, a token that no key fits leads to no other fetch. */
  cooldownDuration: 10_000,
  /** For so long after a failed fetch there is no other. */
  pause: 5_000,
  /** Older keys are fetched again in the background, so that a withdrawn key is rejected. */
  refreshAfter: 10 * 60_000,
  /** Keys are used no longer than this while they cannot be fetched again. */
  cacheMaxAge: 24 * 60 * 60_000,
};
export type KeyTiming = Readonly<typeof TIMING>;

/** Asymmetric ones only: with a symmetric one, whoever can check a token could also make one (RFC 8725 §3.1). */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

/** How far the clocks of issuer and service may differ for `exp` and `nbf`, in seconds. */
const CLOCK_TOLERANCE = 10;

/** No issuer means a token that lives longer: its `exp` is wrong, perhaps in milliseconds. In seconds. */
const MAX_LIFETIME = 100 * 365.25 * 24 * 60 * 60;

const LOOPBACK = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Makes the function that checks a signed token (JWS in compact form, RFC 7515 §7.1, of a JWT, RFC 7519).
 *
 * @param report is told of each failed fetch of the keys.
 * @throws {Error} fit for the operator, if the URL of the keys is not safe.
 */
export function createJwtVerifier(
  { jwksUrl, issuer, audience }: JwtSettings,
  report: (error: HttpError) => void,
  timing: KeyTiming = TIMING,
): (token: string) => Promise<Caller> {
  checkUrl(jwksUrl);
  const keyOf = remoteKeys(jwksUrl, report, timing);
  const options = {
    algorithms: ALGORITHMS,
    requiredClaims: ['exp'],
    clockTolerance: CLOCK_TOLERANCE,
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
  };
  return async (token) => {
    try {
      if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) throw new errors.JWSInvalid();
      return callerOf(await jwtVerify(token, keyOf, options));
    } catch (error) {
      if (error instanceof HttpError || error instanceof Unauthorized) throw error;
      if (error instanceof errors.JOSEError) throw new Unauthorized(messageOf(error));
      // A key is too short, which jose reports by a TypeError.
      throw unusable(jwksUrl, timing.cooldownDuration, error);
    }
  };
}

/** jose's remote keys. They go on while they are fetched again or cannot be; a failing key server is left alone for a while. */
function remoteKeys(url: URL, report: (error: HttpError) => void, timing: KeyTiming): JWTVerifyGetKey {
  const { pause, refreshAfter, ...durations } = timing;
  let [refreshAt, retryAt] = [0, 0];
  let failure: HttpError | undefined;
  const remote = createRemoteJWKSet(url, {
    ...durations,
    // A kept connection may have been cut meanwhile, which would look like a key server that is down.
    headers: { connection: 'close' },
    async [customFetch](address, init) {
      if (performance.now() < retryAt) throw failure;
      try {
        const response = await fetch(address, init);
        if (response.status !== 200) {
          await response.body?.cancel();
          throw new Error(`status ${response.status}`);
        }
        const text = await response.text();
        createLocalJWKSet(JSON.parse(text));
        refreshAt = performance.now() + refreshAfter;
        return new Response(text);
      } catch (cause) {
        failure = unusable(url, pause, cause);
        retryAt = performance.now() + pause;
        refreshAt = retryAt;
        report(failure);
        throw failure;
      }
    },
  });
  return (header, token) => {
    if (performance.now() >= refreshAt && !remote.reloading) remote.reload().catch(() => undefined);
    return remote(header, token);
  };
}

/** A signed token cannot be checked now: 503. The cause is for the log. */
function unusable({ origin }: URL, pause: number, error: unknown): HttpError {
  const { name, message, cause } = error as Error & { cause?: { code?: unknown } };
  // A SyntaxError quotes what is no JSON.
  const why = name === 'SyntaxError' ? 'not JSON' : typeof cause?.code === 'string' ? cause.code : message;
  return new HttpError(503, 'The keys that signed tokens are checked with cannot be fetched; try again later', {
    headers: { 'Retry-After': Math.max(1, Math.ceil(pause / 1000)) },
    // The log has the stack of other errors.
    cause: new HttpError(503, `The keys of ${origin} cannot be used: ${why}`),
  });
}

function checkUrl({ protocol, hostname, host, username, password }: URL): void {
  if (username !== '' || password !== '') {
    throw new Error(`JWKS_URL holds a user name or a password for ${host}: keys are public and fetched without them`);
  }
  if (protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname))) return;
  throw new Error(
    `JWKS_URL is a ${protocol} address${host && ` at ${host}`}: it must start with https://, or with http:// if the host is this machine (localhost, 127.0.0.1, [::1]), since keys that come in the clear can be forged`,
  );
}

/** Types of access tokens (RFC 9068 §2.1). Issuers sign others with the same keys, such as logout tokens (RFC 8725 §3.11). */
const TYPE = /^(application\/)?(at\+)?jwt$/i;

function callerOf({ payload, protectedHeader: { typ = 'JWT' } }: JWTVerifyResult): Caller {
  const { sub: subject, scope, scp, exp = 0 } = payload;
  if (!TYPE.test(typ)) throw new Unauthorized('The type of the token ("typ") is neither JWT nor at+jwt');
  if (subject !== undefined && typeof subject !== 'string')
    throw new Unauthorized('The "sub" claim of the token is not a string');
  if (exp > Date.now() / 1000 + MAX_LIFETIME)
    throw new Unauthorized('The "exp" claim of the token is more than 100 years ahead');
  return { subject, scopes: new Set([...scopesOf(scope), ...scopesOf(scp)]), claims: payload };
}

/** A space-separated string (RFC 8693 §4.2), or the array that some issuers send. */
function scopesOf(claim: unknown): string[] {
  const scopes: unknown[] = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
  return scopes.filter((scope): scope is string => typeof scope === 'string' && scope !== '');
}

/** What to tell the client, by the codes of jose's errors, which hold the claims and go no further. */
const MESSAGES: Readonly<Record<string, string>> = {
  ERR_JOSE_ALG_NOT_ALLOWED: `The token must be signed with one of ${ALGORITHMS.join(', ')}`,
  ERR_JWT_EXPIRED: 'The token has expired',
  ERR_JWKS_NO_MATCHING_KEY: 'The token is signed with a key that its issuer does not publish',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'The token does not name its key ("kid"), one of several',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'The signature of the token is wrong',
};

function messageOf(error: errors.JOSEError): string {
  if (!(error instanceof errors.JWTClaimValidationFailed)) return MESSAGES[error.code] ?? 'The token is not valid';
  if (error.reason === 'missing') return `The token lacks the "${error.claim}" claim`;
  if (error.claim === 'nbf' && error.reason === 'check_failed') return 'The token is not valid yet';
  return `The "${error.claim}" claim of the token is not accepted`;
}
