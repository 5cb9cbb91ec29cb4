import { type Document, escapePointerToken, pointerTokens } from 'openapi-document';
import type { Violation } from './validation/violations.ts';

/** The first tokens of the paths of violations. */
const LOCATIONS = ['body', 'cookie', 'header', 'path', 'query'];

/**
 * Returns all names in a document: the keys of its objects, and the names of its parameters. Other
 * names in a request are chosen by the client, and may be secrets.
 */
export function declaredNames({ root, operations }: Document): ReadonlySet<string> {
  const names = new Set(LOCATIONS);
  const visited = new Set<object>();
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null || visited.has(value)) continue;
    visited.add(value);
    for (const [key, member] of Object.entries(value)) {
      names.add(key);
      pending.push(member);
    }
  }
  for (const { parameters } of operations) for (const { name } of parameters) names.add(name);
  return names;
}

/**
 * Returns the JSON pointer and the keyword of each violation, for the log: `/body/name maxLength`.
 * `*` stands for an index, and for a name that is not declared.
 */
export function describePlaces(
  violations: readonly Violation[],
  names: ReadonlySet<string>,
): readonly string[] {
  const places = violations.map(({ path, keyword }) => `${shownPath(path, names)} ${keyword}`);
  return [...new Set(places)];
}

/** Returns a JSON pointer with `*` in place of indices, and of names that are not declared. */
export const shownPath = (path: string, names: ReadonlySet<string>): string =>
  pointerTokens(path)
    .map((token) => (names.has(token) && !/^\d+$/.test(token) ? token : '*'))
    .map((token) => `/${escapePointerToken(token)}`)
    .join('');
