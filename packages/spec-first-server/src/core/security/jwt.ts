import type { JSONWebKeySet, JWK, JWTVerifyGetKey, JWTVerifyResult } from 'jose';
import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, jwtVerify } from 'jose';
import type { Caller } from '../handlers/types.ts';
import { HttpError, Unauthorized } from '../response/http-error.ts';
import { ConfigError } from './config-error.ts';

/** The keys and the required claims of signed tokens. */
export interface JwtSettings {
  /** A JSON Web Key Set (RFC 7517 §5): https, or plain http on this machine. */
  readonly jwksUrl: URL;
  /** The `iss` claim that is accepted; undefined accepts any. */
  readonly issuer: string | undefined;
  /** A value that the `aud` claim must equal or include; undefined accepts any. */
  readonly audience: string | undefined;
}

/** Durations in milliseconds. */
const TIMING = {
  /** The time limit of a fetch. */
  timeoutDuration: 5_000,
  /** The time after a fetch in which an unknown key does not cause another fetch. */
  cooldownDuration: 10_000,
  /** The time after a failed fetch until the next one. */
  pause: 5_000,
  /** The age at which keys are fetched again in the background, to reject withdrawn keys. */
  refreshAfter: 10 * 60_000,
  /** The age up to which keys are used while they cannot be fetched again. */
  cacheMaxAge: 24 * 60 * 60_000,
};
export type KeyTiming = Readonly<typeof TIMING>;

/**
 * Asymmetric algorithms only: with a symmetric key, a service that verifies tokens could also sign
 * them (RFC 8725 §3.1).
 */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

/** The maximum number of characters of a key set, after decompression. */
const MAX_KEY_SET = 1024 ** 2;

/** The allowed difference between the clocks of issuer and service, in seconds. */
const CLOCK_TOLERANCE = 10;

/** The longest time until `exp`, in seconds. Rejects implausible values, such as milliseconds. */
const MAX_LIFETIME = 100 * 365.25 * 24 * 60 * 60;

const LOOPBACK = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Creates the function that verifies a signed token: a JWT (RFC 7519) in the compact form of a JWS
 * (RFC 7515 §7.1).
 *
 * @param report called with each failed fetch of the keys.
 * @throws {ConfigError} if the URL of the keys is not safe.
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
      if (!isCanonical(token)) throw new errors.JWSInvalid('Invalid Compact JWS');
      return callerOf(await jwtVerify(token, keyOf, options));
    } catch (error) {
      if (error instanceof HttpError) throw error;
      // jose's messages name claims and headers, but not their values.
      if (error instanceof errors.JOSEError)
        throw new Unauthorized(`The token is not valid: ${error.message}`);
      // jose throws a TypeError if a key is too short.
      throw unusable(jwksUrl, timing.cooldownDuration, error);
    }
  };
}

/**
 * Returns true if a token has the compact form and a signature in canonical base64url. Other
 * encodings would allow several spellings of one token (RFC 4648 §3.5).
 */
function isCanonical(token: string): boolean {
  const [, signature = ''] = /^[\w-]+\.[\w-]+\.([\w-]+)$/.exec(token) ?? [];
  return (
    signature !== '' && Buffer.from(signature, 'base64url').toString('base64url') === signature
  );
}

/** Closes the connection if the key set is too large. */
async function readKeySet({ body }: Response): Promise<string> {
  let text = '';
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.length > MAX_KEY_SET) throw new Error(`more than ${MAX_KEY_SET} characters`);
  }
  return text;
}

/** A set without such a key is an error of the issuer, not a withdrawal of all keys. */
const isSigningKey = ({ kty = '', use }: JWK): boolean =>
  ['RSA', 'EC', 'OKP'].includes(kty) && use !== 'enc';

/**
 * Creates jose's remote keys. The current keys stay in use while they are fetched again, even if
 * the fetch fails. The next fetch after a failure is delayed.
 */
function remoteKeys(
  url: URL,
  report: (error: HttpError) => void,
  timing: KeyTiming,
): JWTVerifyGetKey {
  const { pause, refreshAfter, ...durations } = timing;
  let [refreshAt, retryAt] = [0, 0];
  let failure: HttpError | undefined;
  const remote = createRemoteJWKSet(url, {
    ...durations,
    // The issuer may close an idle connection, which would look like a failed fetch.
    headers: { connection: 'close' },
    async [customFetch](address, init) {
      if (performance.now() < retryAt) throw failure;
      try {
        const response = await fetch(address, init);
        if (response.status !== 200) {
          await response.body?.cancel();
          throw new Error(`status ${response.status}`);
        }
        const text = await readKeySet(response);
        const keySet: JSONWebKeySet = JSON.parse(text);
        createLocalJWKSet(keySet);
        if (!keySet.keys.some(isSigningKey)) throw new Error('no key for signatures');
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

/** Returns the 503 for a signed token that cannot be verified now. The cause is only logged. */
function unusable({ origin }: URL, pause: number, error: unknown): HttpError {
  const { name, message, cause } = error as Error & { cause?: { code?: unknown } };
  const code = typeof cause?.code === 'string' ? cause.code : undefined;
  // A SyntaxError quotes the text that is not JSON.
  const reason = name === 'SyntaxError' ? 'not JSON' : (code ?? message);
  return new HttpError(503, 'The keys of signed tokens cannot be used now; try again later', {
    headers: { 'Retry-After': Math.max(1, Math.ceil(pause / 1000)) },
    // An HttpError is logged without a stack.
    cause: new HttpError(503, `The keys of ${origin} cannot be used: ${reason}`),
  });
}

/** @throws {ConfigError} for credentials in the URL, or if keys can be forged on the way. */
function checkUrl({ protocol, hostname, host, username, password }: URL): void {
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
  if (isSafe && username + password === '') return;
  throw new ConfigError(
    'JWKS_URL must start with https://, or with http:// if the host is this machine (localhost, ' +
      `127.0.0.1, [::1]), and have no user name or password, got ${protocol}//${host}`,
  );
}

/**
 * Matches the types of access tokens (RFC 9068 §2.1). Issuers sign other tokens with the same keys,
 * such as logout tokens (RFC 8725 §3.11).
 */
const ACCESS_TOKEN_TYPE = /^(application\/)?(at\+)?jwt$/i;

function callerOf({ payload, protectedHeader: { typ = 'JWT' } }: JWTVerifyResult): Caller {
  const { sub: subject, scope, scp, exp = 0 } = payload;
  if (typeof typ !== 'string' || !ACCESS_TOKEN_TYPE.test(typ))
    throw new Unauthorized('The type of the token ("typ") is neither JWT nor at+jwt');
  if (subject !== undefined && typeof subject !== 'string')
    throw new Unauthorized('The "sub" claim of the token is not a string');
  if (exp > Date.now() / 1000 + MAX_LIFETIME)
    throw new Unauthorized('The "exp" claim of the token is more than 100 years ahead');
  return { subject, scopes: new Set([...scopesOf(scope), ...scopesOf(scp)]), claims: payload };
}

/** Reads a space-separated string (RFC 8693 §4.2), or the array that some issuers send. */
function scopesOf(claim: unknown): string[] {
  const list: unknown = typeof claim === 'string' ? claim.split(' ') : claim;
  const scopes: unknown[] = Array.isArray(list) ? list : [];
  return scopes.filter((scope): scope is string => typeof scope === 'string' && scope !== '');
}
