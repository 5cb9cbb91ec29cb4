import { createLocalJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Caller } from '../document/handler-types.ts';
import { type JwtSettings, KeysUnavailable, Unauthorized } from './tokens.ts';

/** How long things take and last, in milliseconds. */
export interface KeyTiming {
  /** A fetch that takes longer has failed. */
  readonly timeout: number;
  /** After a fetch, tokens that no key fits lead to no other for so long. */
  readonly cooldown: number;
  /** After a failed fetch there is no other for so long. */
  readonly pause: number;
  /** Older keys are fetched again, so that a key that its issuer has withdrawn is refused. */
  readonly refreshAfter: number;
  /** Keys are used no longer than this while they cannot be fetched again. */
  readonly discardAfter: number;
}

const TIMING: KeyTiming = {
  timeout: 5_000,
  cooldown: 10_000,
  pause: 5_000,
  refreshAfter: 10 * 60_000,
  discardAfter: 24 * 60 * 60_000,
};

/** Asymmetric ones only: with a symmetric one, whoever can check a token could also make one (RFC 8725 §3.1). */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** How far the clocks of issuer and service may differ, in seconds. */
const CLOCK_TOLERANCE = 10;

/** What an issuer's keys may take; real sets take a few KiB. */
const MAX_KEYS_BYTES = 1024 * 1024;

/**
 * Makes the function that judges a signed token (a JWS in compact form, RFC 7515 §7.1, whose payload is a JWT, RFC
 * 7519): signature, issuer, audience, `exp` (required) and `nbf`. Keys are fetched when the first token needs them.
 *
 * The function throws Unauthorized at once for what cannot be such a token. Its promise rejects with Unauthorized or
 * KeysUnavailable.
 *
 * @param report - told of each fetch that failed, also while older keys still serve
 */
export function createJwtVerifier(
  settings: JwtSettings,
  report: (error: KeysUnavailable) => void,
  timing: KeyTiming = TIMING,
): (token: string) => Promise<Caller> {
  const keys = remoteKeys(settings.jwksUrl, report, timing);
  const options = {
    algorithms: ALGORITHMS,
    requiredClaims: ['exp'],
    clockTolerance: CLOCK_TOLERANCE,
    ...(settings.issuer !== undefined && { issuer: settings.issuer }),
    ...(settings.audience !== undefined && { audience: settings.audience }),
  };

  /** A token may be without `kid` while several keys are of its algorithm: then any of them may have signed it. */
  async function claims(token: string, key: JWTVerifyGetKey): Promise<JWTPayload> {
    try {
      return (await jwtVerify(token, key, options)).payload;
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      for await (const candidate of error) {
        const verified = await jwtVerify(token, candidate, options).catch((failure: unknown) => {
          if (!needsOtherKey(failure)) throw failure;
        });
        if (verified) return verified.payload;
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  }

  async function verify(token: string): Promise<Caller> {
    try {
      const known = await keys.current();
      return caller(
        await claims(token, known).catch(async (error: unknown) => {
          if (!needsOtherKey(error)) throw error;
          const newer = await keys.newer(known).catch((unavailable: unknown) => {
            throw error instanceof errors.JWSSignatureVerificationFailed ? error : unavailable;
          });
          if (newer === undefined) throw error;
          return claims(token, newer);
        }),
      );
    } catch (error) {
      if (error instanceof UnusableKey) throw new KeysUnavailable(seconds(timing.cooldown), error);
      if (error instanceof KeysUnavailable || error instanceof Unauthorized) throw error;
      throw new Unauthorized(refusal(error));
    }
  }

  return (token) => {
    checkForm(token);
    return verify(token);
  };
}

function caller(payload: JWTPayload): Caller {
  const { sub, scope, scp } = payload;
  if (sub !== undefined && typeof sub !== 'string') throw new Unauthorized('The "sub" claim of the token is no string');
  return { subject: sub, scopes: new Set([...scopesOf(scope), ...scopesOf(scp)]) };
}

/** A space-separated string (RFC 8693 §4.2), or the array that some issuers send. */
function scopesOf(claim: unknown): string[] {
  const scopes: unknown[] = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
  return scopes.filter((scope): scope is string => typeof scope === 'string' && scope !== '');
}

/** Sorts out what no key could verify, so that it costs no more than this. */
function checkForm(token: string): void {
  const parts = token.split('.', 4);
  const [protectedHeader = ''] = parts;
  if (parts.length !== 3 || !parts.every((part) => /^[\w-]+$/.test(part) && part.length % 4 !== 1)) {
    throw new Unauthorized('The token is not valid');
  }
  let header: unknown;
  try {
    header = JSON.parse(Buffer.from(protectedHeader, 'base64url').toString());
  } catch {
    throw new Unauthorized('The token is not valid');
  }
  if (typeof header !== 'object' || header === null) throw new Unauthorized('The token is not valid');
  if (!('alg' in header && typeof header.alg === 'string' && ALGORITHMS.includes(header.alg))) {
    throw new Unauthorized(`The token must be signed with one of ${ALGORITHMS.join(', ')}`);
  }
  if ('crit' in header || ('kid' in header && typeof header.kid !== 'string')) {
    throw new Unauthorized('The header of the token holds something that is not understood here');
  }
}

/** What to tell the client; jose's own errors carry the claims, so they go no further. */
function refusal(error: unknown): string {
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

/** The issuer publishes a key that cannot be used. */
class UnusableKey extends Error {}

/** Whether newer keys could turn the refusal into an acceptance. */
function needsOtherKey(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof UnusableKey
  );
}

const seconds = (milliseconds: number) => Math.max(1, Math.ceil(milliseconds / 1000));

/**
 * The keys at a URL. Unlike jose's own remote set it goes on with the keys it has while they cannot be fetched, leaves
 * a key server that fails alone for a while, and bounds what it reads.
 */
function remoteKeys(url: URL, report: (error: KeysUnavailable) => void, timing: KeyTiming) {
  let keys: JWTVerifyGetKey | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let failure: { readonly at: number; readonly cause: Error } | undefined;
  let pending: Promise<JWTVerifyGetKey> | undefined;

  const now = () => performance.now();
  const age = () => now() - fetchedAt;

  async function fetchNow(): Promise<JWTVerifyGetKey> {
    try {
      keys = await fetchKeys(url, timing.timeout);
      fetchedAt = now();
      failure = undefined;
      return keys;
    } catch (error) {
      const cause = new Error(`The key server ${url.origin} ${whyNot(error)}`);
      failure = { at: now(), cause };
      const unavailable = new KeysUnavailable(seconds(timing.pause), cause);
      report(unavailable);
      throw unavailable;
    } finally {
      pending = undefined;
    }
  }

  /** One fetch at a time, however many wait for it. */
  async function refresh(): Promise<JWTVerifyGetKey> {
    if (pending === undefined && failure !== undefined) {
      const left = failure.at + timing.pause - now();
      if (left > 0) throw new KeysUnavailable(seconds(left), failure.cause);
    }
    pending ??= fetchNow();
    return pending;
  }

  return {
    /** The keys to try first. */
    async current(): Promise<JWTVerifyGetKey> {
      if (keys === undefined || age() > timing.discardAfter) return refresh();
      if (age() <= timing.refreshAfter) return keys;
      const older = keys;
      const refreshed = refresh().catch(() => older);
      return failure === undefined ? refreshed : older;
    },

    /** Newer keys than those; undefined if they were fetched so recently that none are to be expected. */
    async newer(known: JWTVerifyGetKey): Promise<JWTVerifyGetKey | undefined> {
      if (keys !== known) return keys;
      return age() < timing.cooldown ? undefined : refresh();
    },
  };
}

/** The reasons why keys cannot be had that say everything in their message. */
class BadAnswer extends Error {}

function whyNot(error: unknown): string {
  if (error instanceof BadAnswer) return error.message;
  const name = property(error, 'name');
  if (name === 'TimeoutError') return 'does not answer in time';
  return `cannot be reached (${property(property(error, 'cause'), 'code') ?? name})`;
}

function property(of: unknown, name: string): unknown {
  return typeof of === 'object' && of !== null ? Reflect.get(of, name) : undefined;
}

async function fetchKeys(url: URL, timeout: number): Promise<JWTVerifyGetKey> {
  const response = await fetch(url, {
    // A connection kept from the last fetch may have been cut meanwhile, which would look like a key server that is down.
    headers: { accept: 'application/jwk-set+json, application/json', connection: 'close' },
    redirect: 'manual',
    signal: AbortSignal.timeout(timeout),
  });
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel();
    throw new BadAnswer(`answers with status ${response.status} instead of 200`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > MAX_KEYS_BYTES) throw new BadAnswer(`answers with more than ${MAX_KEYS_BYTES} bytes`);
    chunks.push(chunk);
  }
  let local: ReturnType<typeof createLocalJWKSet>;
  try {
    local = createLocalJWKSet(JSON.parse(Buffer.concat(chunks).toString()));
  } catch {
    throw new BadAnswer('answers with something that is no JSON Web Key Set');
  }
  return async (header, jws) => {
    try {
      const key = await local(header, jws);
      if ('modulusLength' in key.algorithm && Number(key.algorithm.modulusLength) < 2048) {
        throw new Error('an RSA key must have 2048 bits or more');
      }
      return key;
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error;
      throw new UnusableKey(`The key server ${url.origin} publishes a key that cannot be used`);
    }
  };
}
