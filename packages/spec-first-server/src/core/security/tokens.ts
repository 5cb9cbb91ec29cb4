import { hash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { SILENT } from '../access-log.ts';
import type { Caller, Log } from '../handlers/types.ts';
import { Forbidden, type HttpError, Unauthorized } from '../response/http-error.ts';
import { ConfigError } from './config-error.ts';
import type { JwtSettings } from './jwt.ts';

/** The accepted tokens. By default every token is rejected. */
export interface AuthSettings {
  /**
   * The entries of ACCESS_TOKENS. Each is a token, or `sha256:` and the 64 hex digits of its
   * digest, with the options `name:` before it and `scheme=NAME` and `scope=NAME` after it.
   */
  readonly accessTokens?: readonly string[] | undefined;
  /** A file with one such entry per line. `#` starts a comment. */
  readonly accessTokensFile?: string | undefined;
  readonly jwt?: JwtSettings | undefined;
  /**
   * A token for all schemes with all scopes. Its caller has the subject `development`.
   * An entry of ACCESS_TOKENS may have this name, too.
   */
  readonly developmentToken?: string | undefined;
}

/** For each security scheme with tokens: true if it also accepts signed tokens. */
export type TokenSchemes = ReadonlyMap<string, boolean>;

/** Verifies the tokens of requests. */
export interface Authenticator {
  /**
   * Returns the caller of a static token, or a promise of the caller of a signed token.
   *
   * @param scheme the name of the security scheme. Tokens of other schemes are rejected.
   * @throws {Unauthorized | Forbidden} A promise rejects with these or a 503 {@link HttpError}.
   */
  verify(token: string, scopes: readonly string[], scheme: string): Caller | Promise<Caller>;
  /**
   * Reads ACCESS_TOKENS_FILE again. Resolves to the number of tokens.
   *
   * @throws {ConfigError} if the file cannot be read, has no token any more, or has a wrong entry.
   *   The previous tokens stay valid.
   */
  reload(): Promise<number>;
}

/** Longer tokens are rejected without a check. Node accepts at most 16 KiB of headers. */
const MAX_TOKEN_LENGTH = 8192;

/** A name, then a token or its digest. `sha256:` and `md5:` are reserved prefixes, not names. */
const TOKEN = /^(?:(?!(?:sha|md)\d+:)([\w.@-]+):)?(?:sha256:([0-9a-f]{64})|([\w\-.~+/]+=*))$/i;

const OPTION = /^(scheme|scope)=(\S+)$/;

/** A static token. `place` is the entry or the line that configures it. */
interface TokenEntry {
  readonly digest: string;
  readonly subject: string | undefined;
  readonly scheme: string | undefined;
  readonly scopes: readonly string[];
  readonly place: string;
}

/** Returns a random token of 256 bits in base64url, which needs no quotes in a shell. */
export const randomToken = (): string => randomBytes(32).toString('base64url');

/** Callers by the digests of their static tokens, for each security scheme. */
type TokenTables = ReadonlyMap<string, ReadonlyMap<string, Caller>>;

/**
 * Creates the authenticator of a document.
 *
 * @param documentScopes the scopes of the document. Each other scope of a token is logged, also
 *   after a reload. By default, tokens may have any scopes.
 * @throws {ConfigError} if a setting is wrong. The message names the place, never a token.
 */
export async function createAuthenticator(
  settings: AuthSettings,
  schemes: TokenSchemes,
  log: Log = SILENT,
  documentScopes?: ReadonlySet<string>,
): Promise<Authenticator> {
  const { accessTokens = [], accessTokensFile: file, jwt, developmentToken } = settings;
  const configured = accessTokens.flatMap((entry, index) =>
    entriesOf(entry, `ACCESS_TOKENS: entry ${index + 1}`),
  );
  let tables: TokenTables = new Map();
  let tokensInFile = 0;
  /** Caches the digests of valid tokens, since a look-up is faster than hashing. */
  const digests = new Map<string, string>();

  /** Synchronous, so that two reloads cannot race. */
  function load(): number {
    const fileEntries = file === undefined ? [] : entriesOfFile(file);
    if (fileEntries.length === 0 && tokensInFile > 0)
      throw new ConfigError('ACCESS_TOKENS_FILE no longer contains a token');
    const entries = [...configured, ...fileEntries];
    tables = tablesOf(entries, schemes, developmentToken);
    digests.clear();
    tokensInFile = fileEntries.length;
    if (documentScopes !== undefined) warnOfScopes(entries, documentScopes, log);
    return new Set(entries.map(({ digest }) => digest)).size;
  }

  if (load() === 0 && file !== undefined && jwt === undefined) {
    throw new ConfigError(
      'ACCESS_TOKENS_FILE contains no token: put each token on a separate line',
    );
  }
  if (jwt !== undefined && schemes.size > 0 && ![...schemes.values()].includes(true)) {
    throw new ConfigError(
      'JWKS_URL is set, but no security scheme of the document takes signed tokens: ' +
        'http bearer, oauth2 and openIdConnect do',
    );
  }
  const report = (err: HttpError) =>
    log.error({ err }, 'the keys of signed tokens cannot be fetched');
  const verifySigned = jwt && (await import('./jwt.ts')).createJwtVerifier(jwt, report);
  return {
    verify(token, scopes, scheme) {
      if (token.length > MAX_TOKEN_LENGTH)
        throw new Unauthorized(`The token is longer than ${MAX_TOKEN_LENGTH} characters`);
      // A map compares strings only if their hashes are equal. V8 hashes with a random key, so the
      // duration reveals nothing about a token.
      const cached = digests.get(token);
      const digest = cached ?? hash('sha256', token);
      const caller = tables.get(scheme)?.get(digest);
      if (caller !== undefined) {
        if (cached === undefined) digests.set(token, digest);
        return withScopes(caller, scopes);
      }
      if (verifySigned === undefined || schemes.get(scheme) !== true)
        throw new Unauthorized('The token is not valid');
      return verifySigned(token).then((signed) => withScopes(signed, scopes));
    },
    reload: async () => load(),
  };
}

function warnOfScopes(
  entries: readonly TokenEntry[],
  documentScopes: ReadonlySet<string>,
  log: Log,
): void {
  for (const { place, scopes } of entries) {
    for (const scope of scopes) {
      if (documentScopes.has(scope)) continue;
      log.warn(
        `${place} has the scope ${scope}, which the document does not have: check its spelling`,
      );
    }
  }
}

function withScopes(caller: Caller, scopes: readonly string[]): Caller {
  if (caller.scopes === 'all') return caller;
  if (scopes.length === 0 || caller.scopes.isSupersetOf(new Set(scopes))) return caller;
  throw new Forbidden(scopes, undefined, caller.subject);
}

/** @throws {ConfigError} if a scheme is missing or unknown, or tokens conflict. */
function tablesOf(
  entries: readonly TokenEntry[],
  schemes: TokenSchemes,
  developmentToken?: string,
): TokenTables {
  const names = [...schemes.keys()];
  const tables = new Map(names.map((name) => [name, new Map<string, Caller>()]));
  for (const { digest, subject, scheme, scopes, place } of entries) {
    const isForAll = scheme === '*';
    if (scheme !== undefined && !isForAll && !schemes.has(scheme)) {
      const schemeNames = names.join(', ') || 'none';
      throw new ConfigError(
        `${place} has an unknown scheme; the schemes that take tokens: ${schemeNames}`,
      );
    }
    if (scheme === undefined && names.length > 1) {
      const choices = names.map((name) => `scheme=${name}`).join(' or ');
      throw new ConfigError(
        `${place} names no security scheme, but the document has several: ` +
          `add ${choices} after the token`,
      );
    }
    const caller = Object.freeze<Caller>({ subject, scopes: new Set(scopes) });
    for (const [name, callers] of tables) {
      if (!isForAll && name !== (scheme ?? names[0])) continue;
      const other = callers.get(digest);
      if (other !== undefined && !isDeepStrictEqual(other, caller))
        throw new ConfigError(`${place} repeats a token with another name or other scopes`);
      callers.set(digest, caller);
    }
  }
  if (developmentToken === undefined) return tables;
  const developer = Object.freeze<Caller>({ subject: 'development', scopes: 'all' });
  for (const callers of tables.values()) callers.set(hash('sha256', developmentToken), developer);
  return tables;
}

function entriesOf(text: string, place: string): TokenEntry[] {
  const [credential = '', ...words] = text.trim().split(/\s+/);
  if (credential === '') return [];
  const [, subject, digest, token = ''] = TOKEN.exec(credential) ?? [];
  const options = words.map((word) => OPTION.exec(word));
  const valuesOf = (option: string) =>
    options.flatMap((match) => (match?.[1] === option ? String(match[2]) : []));
  const [scheme, ...others] = valuesOf('scheme');
  const isToken = digest !== undefined || (token !== '' && token.length <= MAX_TOKEN_LENGTH);
  if (!isToken || others.length > 0 || options.includes(null)) {
    throw new ConfigError(
      `${place} must be a token (up to ${MAX_TOKEN_LENGTH} letters, digits and -._~+/ ` +
        'with = only at its end) or "sha256:" and 64 hex digits, ' +
        'optionally with a name and a colon before it, and scheme=… and scope=… after it',
    );
  }
  return [
    {
      digest: digest?.toLowerCase() ?? hash('sha256', token),
      subject,
      scheme,
      scopes: valuesOf('scope'),
      place,
    },
  ];
}

function entriesOfFile(file: string) {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    // A relative path is not shown: it may be a token that was meant for ACCESS_TOKENS.
    const place = isAbsolute(file) ? file : `relative to ${process.cwd()}`;
    throw new ConfigError(`ACCESS_TOKENS_FILE cannot be read (${Object(error).code}): ${place}`);
  }
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  return lines.flatMap((line, index) =>
    entriesOf(line.replace(/(^|\s)#.*$/, ''), `ACCESS_TOKENS_FILE: line ${index + 1}`),
  );
}
