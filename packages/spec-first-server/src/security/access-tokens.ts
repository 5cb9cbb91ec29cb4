import { hash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { Caller } from '../handlers/types.ts';

/** Longer tokens are rejected unread: half of what Node accepts as all headers together. */
export const MAX_TOKEN_LENGTH = 8192;

/** A token of fewer characters can be guessed. */
const SHORT = 16;

/** Perhaps a name, then a token or its digest. The name of a hash function is none, so that a wrong digest is no token. */
const ENTRY = /^(?:(?!(?:sha|md)\d+:)([\w.@-]+):)?(?:sha256:([0-9a-f]{64})|([\w\-.~+/]+=*))$/i;

/** An access token that is accepted. */
interface Entry {
  readonly subject: string | undefined;
  readonly digest: string | undefined;
  readonly token: string;
}

/** A token that cannot be guessed: 256 random bits in base64url, safe in a shell and in a header. */
export const randomToken = (): string => randomBytes(32).toString('base64url');

/**
 * The access tokens that are accepted.
 *
 * A token is found by a SHA-256 digest that also covers a random key of this process. Nobody outside can compute it or
 * approach it step by step. So the time of the look-up tells nothing about a token.
 */
export class AccessTokens {
  readonly #key = randomToken();
  readonly #entries: readonly Entry[];
  readonly #file: string | undefined;
  /** How many tokens are short enough to be guessed. That of a digest is not known. */
  short = 0;
  #accepted: ReadonlyMap<string, Caller> = new Map();
  /** Whether there is an entry of which only the digest is known. Then all tokens are hashed once more. */
  #hasDigests = false;
  /** How many tokens came from the file. */
  #inFile = 0;
  #loading: Promise<unknown> = Promise.resolve();

  /** @throws {Error} if an entry is wrong. It names the place, never the token. */
  constructor(entries: readonly string[], file: string | undefined) {
    this.#entries = entries.flatMap((entry, index) => checkedEntry(entry, `ACCESS_TOKENS: entry ${index + 1}`));
    this.#file = file;
  }

  /** Whose token it is; `undefined` if it is not accepted. */
  callerOf(token: string): Caller | undefined {
    return this.#accepted.get(this.#fingerprint(token));
  }

  /**
   * Reads the file again: tokens that it no longer holds are rejected from then on.
   *
   * @returns how many tokens are accepted now.
   * @throws {Error} if the file cannot be read, a line is wrong, or no token is left. The tokens stay as they were.
   */
  load(): Promise<number> {
    // One load after the other, so that the last reading counts.
    const loaded = this.#loading.then(async () => {
      const read = this.#file === undefined ? [] : await entriesOfFile(this.#file);
      const entries = [...this.#entries, ...read];
      if (read.length === 0 && this.#inFile > 0) throw new Error('ACCESS_TOKENS_FILE holds no token any more');
      this.#inFile = read.length;
      this.short = entries.filter(({ token, digest }) => digest === undefined && token.length < SHORT).length;
      this.#hasDigests = entries.some(({ digest }) => digest !== undefined);
      this.#accepted = new Map(
        entries.map(({ token, digest, subject }) => [
          this.#fingerprint(token, digest),
          Object.freeze<Caller>({ subject, scopes: 'all' }),
        ]),
      );
      return this.#accepted.size;
    });
    this.#loading = loaded.catch(() => {});
    return loaded;
  }

  #fingerprint(token: string, digest?: string): string {
    return hash('sha256', this.#key + (this.#hasDigests ? (digest?.toLowerCase() ?? hash('sha256', token)) : token));
  }
}

/** Nothing for an empty entry. */
function checkedEntry(entry: string, place: string): Entry[] {
  const text = entry.trim();
  if (text === '') return [];
  const [, subject, digest, token = ''] = ENTRY.exec(text) ?? [];
  if (digest !== undefined || (token !== '' && token.length <= MAX_TOKEN_LENGTH)) return [{ subject, digest, token }];
  throw new Error(
    `${place} is neither a token (up to ${MAX_TOKEN_LENGTH} letters, digits and -._~+/ with = only at its end) nor "sha256:" and 64 hex digits; a name and a colon may stand before it`,
  );
}

async function entriesOfFile(file: string): Promise<Entry[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    // Not the path: whoever takes this variable for ACCESS_TOKENS has put a token there.
    const seenFrom = isAbsolute(file) ? '' : `, looked for from ${process.cwd()}`;
    throw new Error(`ACCESS_TOKENS_FILE cannot be read (${error.code ?? 'unknown error'}${seenFrom})`);
  });
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .flatMap((line, index) => checkedEntry(line.replace(/(^|\s)#.*$/, ''), `ACCESS_TOKENS_FILE: line ${index + 1}`));
}
