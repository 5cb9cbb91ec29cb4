import { hash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Caller } from '../handlers/types.ts';
import { Forbidden, type HttpError, Unauthorized } from '../response/http-error.ts';
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
  /** Checks an access token at once, a signed one as a promise. @throws {Unauthorized | Forbidden} in the same way. */
  verify(token: string, scopes: readonly string[]): Caller | Promise<Caller>;
  /** Reads ACCESS_TOKENS_FILE again. Resolves to the number of tokens. @throws {Error} if it is wrong: they stay then. */
  reload(): Promise<number>;
}

/** Longer tokens are rejected unread: half of what Node accepts as all headers together. */
const MAX_LENGTH = 8192;

/** How many tokens are remembered as they are. */
const RECENT = 100;

/** Perhaps a name, then a token or its digest. The name of a hash function is none, so that a wrong digest is no token. */
const ENTRY = /^(?:(?!(?:sha|md)\d+:)([\w.@-]+):)?(?:sha256:([0-9a-f]{64})|([\w\-.~+/]+=*))$/i;

/** A token that cannot be guessed: 256 random bits in base64url, safe in a shell and in a header. */
export const randomToken = (): string => randomBytes(32).toString('base64url');

/**
 * Accepts access tokens and signed tokens.
 *
 * @param report is told each time that the keys of signed tokens cannot be fetched; the cause says why.
 * @throws {Error} fit for the operator, if a setting is wrong. It names the place, never a token.
 */
export async function createAuthenticator(
  { accessTokens, accessTokensFile: file, jwt }: AuthSettings,
  report: (error: HttpError) => void = () => {},
): Promise<Authenticator> {
  const fixed = accessTokens.flatMap((entry, index) => entriesOf(entry, `ACCESS_TOKENS: entry ${index + 1}`));
  let callers: ReadonlyMap<string, Caller> = new Map();
  /** By tokens that were accepted, so that no request costs a digest. */
  const recent = new Map<string, Caller>();
  let inFile = 0;

  // At once, so that the last reading counts.
  function load(): number {
    const read = file === undefined ? [] : entriesOfFile(file);
    if (read.length === 0 && inFile > 0) throw new Error('ACCESS_TOKENS_FILE holds no token any more');
    inFile = read.length;
    const entries = [...fixed, ...read];
    callers = new Map(entries.map(({ digest, caller }) => [digest, caller]));
    recent.clear();
    return callers.size;
  }

  if (load() === 0 && file !== undefined && jwt === undefined) {
    throw new Error('ACCESS_TOKENS_FILE holds no token, so every call would be rejected: put one on a line of it');
  }
  const verifySigned = jwt && (await import('./jwt.ts')).createJwtVerifier(jwt, report);
  return {
    verify(token, scopes) {
      if (token.length > MAX_LENGTH) throw new Unauthorized(`The token is longer than ${MAX_LENGTH} characters`);
      // A map compares texts only if their hashes are equal. V8 makes these with a random key, so times tell nothing.
      const known = recent.get(token) ?? callers.get(hash('sha256', token));
      if (known !== undefined) {
        if (recent.size < RECENT) recent.set(token, known);
        return known;
      }
      if (verifySigned === undefined) throw new Unauthorized('The token is not valid');
      return verifySigned(token).then((caller) => {
        if (caller.scopes !== 'all' && !caller.scopes.isSupersetOf(new Set(scopes))) throw new Forbidden(scopes);
        return caller;
      });
    },
    reload: async () => load(),
  };
}

function entriesOf(entry: string, place: string) {
  const text = entry.trim();
  if (text === '') return [];
  const [, subject, digest, token = ''] = ENTRY.exec(text) ?? [];
  const caller = Object.freeze<Caller>({ subject, scopes: 'all' });
  if (digest !== undefined) return [{ digest: digest.toLowerCase(), caller }];
  if (token !== '' && token.length <= MAX_LENGTH) return [{ digest: hash('sha256', token), caller }];
  const form = `a token (up to ${MAX_LENGTH} letters, digits and -._~+/ with = only at its end)`;
  throw new Error(
    `${place} is neither ${form} nor "sha256:" and 64 hex digits; a name and a colon may stand before it`,
  );
}

function entriesOfFile(file: string) {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    // Not the path: whoever takes this variable for ACCESS_TOKENS has put a token there.
    const seenFrom = isAbsolute(file) ? '' : `, looked for from ${process.cwd()}`;
    throw new Error(`ACCESS_TOKENS_FILE cannot be read (${Object(error).code}${seenFrom})`);
  }
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  return lines.flatMap((line, index) =>
    entriesOf(line.replace(/(^|\s)#.*$/, ''), `ACCESS_TOKENS_FILE: line ${index + 1}`),
  );
}
