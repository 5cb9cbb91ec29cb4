import { errors, type JWTVerifyResult, jwtVerify } from 'jose';
import type { Caller } from '../handlers/types.ts';
import { KeysUnavailable, Unauthorized } from './errors.ts';
import { type KeyTiming, remoteKeys, seconds, TIMING } from './jwks.ts';

/** Where the keys of signed tokens are, and what their claims must say. */
export interface JwtSettings {
  /** A JSON Web Key Set (RFC 7517 §5): https, or plain http on this machine. */
  readonly jwksUrl: URL;
  /** The `iss` claim that is accepted; undefined accepts any. */
  readonly issuer: string | undefined;
  /** A value that the `aud` claim must be or hold; undefined accepts any. */
  readonly audience: string | undefined;
}

/** Asymmetric ones only: with a symmetric one, whoever can check a token could also make one (RFC 8725 §3.1). */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** How far the clocks of issuer and service may differ for `exp` and `nbf`, in seconds. */
const CLOCK_TOLERANCE = 10;

/** A token issued this much later than now has a wrong `iat`, in seconds. */
const MAX_ISSUED_AHEAD = 5 * 60;

/** No issuer means a token that lives longer: its `exp` is wrong, perhaps in milliseconds. In seconds. */
const MAX_LIFETIME = 100 * 365.25 * 24 * 60 * 60;

const LOOPBACK = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Makes the function that checks a signed token (a JWS in compact form, RFC 7515 §7.1, whose payload is a JWT, RFC
 * 7519): signature, issuer, audience, `exp` (required), `nbf` and `iat`. The first token fetches the keys.
 *
 * @param report is told of each failed fetch of the keys.
 * @throws {Error} fit for the operator, if the URL of the keys is not safe.
 */
export function createJwtVerifier(
  { jwksUrl, issuer, audience }: JwtSettings,
  report: (error: KeysUnavailable) => void,
  timing: KeyTiming = TIMING,
): (token: string) => Promise<Caller> {
  checkUrl(jwksUrl);
  const keys = remoteKeys(jwksUrl, report, timing);
  const options = {
    algorithms: ALGORITHMS,
    requiredClaims: ['exp'],
    clockTolerance: CLOCK_TOLERANCE,
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
  };
  return verify;

  async function verify(token: string): Promise<Caller> {
    const known = keys.fetchedAt();
    try {
      if (!FORM.test(token)) throw new errors.JWSInvalid();
      return callerOf(await verified(token).catch((error: unknown) => withNewerKeys(token, error, known)));
    } catch (error) {
      if (error instanceof KeysUnavailable || error instanceof Unauthorized) throw error;
      if (!isUnusableKey(error)) throw new Unauthorized(messageOf(error));
      const cause = new Error(`The key server ${jwksUrl.origin} publishes a key that cannot be used`, { cause: error });
      throw new KeysUnavailable(seconds(timing.cooldown), cause);
    }
  }

  async function withNewerKeys(token: string, error: unknown, known: number): Promise<JWTVerifyResult> {
    if (!needsOtherKey(error)) throw error;
    const newer = await keys.newerThan(known).catch((unavailable: unknown) => {
      throw error instanceof errors.JWSSignatureVerificationFailed ? error : unavailable;
    });
    if (!newer) throw error;
    return verified(token);
  }

  /** A token may lack a `kid` while several keys are of its algorithm: then any of them may have signed it. */
  async function verified(token: string): Promise<JWTVerifyResult> {
    try {
      return await jwtVerify(token, keys.resolve, options);
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      for await (const candidate of error) {
        try {
          return await jwtVerify(token, candidate, options);
        } catch (failure) {
          if (!needsOtherKey(failure)) throw failure;
        }
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  }
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
  const { sub, scope, scp, exp = 0, iat = 0 } = payload;
  const now = Date.now() / 1000;
  if (!TYPE.test(typ)) throw new Unauthorized('The type of the token ("typ") is neither JWT nor at+jwt');
  if (sub !== undefined && typeof sub !== 'string')
    throw new Unauthorized('The "sub" claim of the token is not a string');
  if (exp > now + MAX_LIFETIME) throw new Unauthorized('The "exp" claim of the token is more than 100 years ahead');
  if (iat > now + MAX_ISSUED_AHEAD) throw new Unauthorized('The "iat" claim of the token is in the future');
  return { subject: sub, scopes: new Set([...scopesOf(scope), ...scopesOf(scp)]), claims: payload };
}

/** A space-separated string (RFC 8693 §4.2), or the array that some issuers send. */
function scopesOf(claim: unknown): string[] {
  const scopes: unknown[] = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
  return scopes.filter((scope): scope is string => typeof scope === 'string' && scope !== '');
}

const FORM = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** What to tell the client. jose's own errors hold the claims, so they go no further. */
function messageOf(error: unknown): string {
  if (error instanceof errors.JOSEAlgNotAllowed) return `The token must be signed with one of ${ALGORITHMS.join(', ')}`;
  if (error instanceof errors.JWTExpired) return 'The token has expired';
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.reason === 'missing') return `The token lacks the "${error.claim}" claim`;
    if (error.claim === 'nbf' && error.reason === 'check_failed') return 'The token is not valid yet';
    return `The "${error.claim}" claim of the token is not accepted`;
  }
  if (error instanceof errors.JWKSNoMatchingKey)
    return 'The token is signed with a key that its issuer does not publish';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'The signature of the token is wrong';
  return 'The token is not valid';
}

/** Whether a key of the issuer cannot be imported, or is too short: jose throws what is none of its own errors. */
const isUnusableKey = (error: unknown): boolean =>
  error instanceof errors.JWKSInvalid || !(error instanceof errors.JOSEError || error instanceof KeysUnavailable);

/** Whether newer keys could verify the token. */
const needsOtherKey = (error: unknown): boolean =>
  error instanceof errors.JWKSNoMatchingKey ||
  error instanceof errors.JWSSignatureVerificationFailed ||
  isUnusableKey(error);
