import { createLocalJWKSet, createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose';
import { KeysUnavailable } from './errors.ts';

/** How long things take and last, in milliseconds. */
export const TIMING = {
  /** A fetch that takes longer has failed. */
  timeout: 5_000,
  /** For so long after a fetch, a token that no key fits leads to no other fetch. */
  cooldown: 10_000,
  /** For so long after a failed fetch there is no other. */
  pause: 5_000,
  /** Older keys are fetched again in the background, so that a withdrawn key is rejected. */
  refreshAfter: 10 * 60_000,
  /** Keys are used no longer than this while they cannot be fetched again. */
  discardAfter: 24 * 60 * 60_000,
};
export type KeyTiming = Readonly<typeof TIMING>;

/** Real key sets take a few KiB. */
const MAX_KEYS_BYTES = 1024 * 1024;

export const seconds = (milliseconds: number) => Math.max(1, Math.ceil(milliseconds / 1000));

/**
 * The keys at a URL: jose's remote set, which goes on with the keys that it has while they are fetched again or cannot
 * be, leaves a failing key server alone for a while, and reads no more than {@link MAX_KEYS_BYTES}.
 *
 * @param report is told of each failed fetch, also while older keys are still used.
 */
export function remoteKeys(url: URL, report: (error: KeysUnavailable) => void, timing: KeyTiming) {
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let failure: { readonly at: number; readonly cause: Error } | undefined;
  const age = () => performance.now() - fetchedAt;

  const remote = createRemoteJWKSet(url, {
    timeoutDuration: timing.timeout,
    cooldownDuration: timing.cooldown,
    cacheMaxAge: Number.POSITIVE_INFINITY,
    // A kept connection may have been cut meanwhile, which would look like a key server that is down.
    headers: { connection: 'close' },
    async [customFetch](address, init) {
      const wait = failure === undefined ? 0 : failure.at + timing.pause - performance.now();
      if (failure !== undefined && wait > 0) throw new KeysUnavailable(seconds(wait), failure.cause);
      try {
        const text = await readKeys(address, init);
        failure = undefined;
        fetchedAt = performance.now();
        return new Response(text);
      } catch (error) {
        const cause = new Error(`The key server ${url.origin} ${reasonOf(error)}`);
        failure = { at: performance.now(), cause };
        const unavailable = new KeysUnavailable(seconds(timing.pause), cause);
        report(unavailable);
        throw unavailable;
      }
    },
  });

  const resolve: JWTVerifyGetKey = async (header, token) => {
    if (age() > timing.discardAfter) await remote.reload();
    else if (age() > timing.refreshAfter) remote.reload().catch(() => undefined);
    return remote(header, token);
  };
  return {
    resolve,
    /** The time of the last successful fetch. */
    fetchedAt: () => fetchedAt,
    /** Whether there are newer keys than those; fetches them unless the last fetch was a moment ago. */
    async newerThan(known: number): Promise<boolean> {
      if (fetchedAt !== known) return true;
      if (remote.coolingDown) return false;
      await remote.reload();
      return true;
    },
  };
}

async function readKeys(url: string, init: RequestInit): Promise<string> {
  const response = await fetch(url, init);
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel();
    throw new Error(`answers with status ${response.status} instead of 200`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > MAX_KEYS_BYTES) throw new Error(`answers with more than ${MAX_KEYS_BYTES} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  try {
    createLocalJWKSet(JSON.parse(text));
  } catch {
    throw new Error('answers with something other than a JSON Web Key Set');
  }
  return text;
}

/** The message of an error of {@link readKeys}, or why `fetch` failed. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string } };
  if (name === 'TimeoutError') return 'does not answer in time';
  return cause === undefined ? message : `cannot be reached (${cause.code ?? name})`;
}
