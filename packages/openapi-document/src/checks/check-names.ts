import type { Schemas } from '../schema/schemas.ts';
import { escapePointerToken, type Json } from '../source/document.ts';
import { type Report, SCHEMA_KEYWORDS } from './check-structure.ts';
import { similarName } from './similar-name.ts';

/** The keywords of JSON Schema, of its older drafts, and of OpenAPI. Others are ignored. */
const KEYWORDS = new Set([
  ...Object.keys(SCHEMA_KEYWORDS),
  ...['const', 'default', 'example', '$vocabulary'],
  ...['$recursiveRef', '$recursiveAnchor', 'definitions', 'dependencies', 'id'],
]);

/**
 * Keywords that messages suggest. Words of two or three letters would resemble too many others.
 * Members such as `comment` are annotations, not misspellings of `$comment`.
 */
const SUGGESTED = [...KEYWORDS].filter(
  (keyword) => keyword === '$ref' || keyword === '$defs' || /^[a-z]{4}/i.test(keyword),
);

/** Reports misspelled keywords, and required members that no object can have. */
export function checkNames(
  schemas: Schemas,
  schema: Json,
  pointer: string,
  { notice }: Report,
): void {
  const { tree } = schemas;
  for (const keyword of Object.keys(schema)) {
    if (KEYWORDS.has(keyword) || keyword.startsWith('x-')) continue;
    const similar = similarName(keyword, SUGGESTED);
    if (similar === undefined) continue;
    const message = `${keyword} is not a keyword of a schema: it is ignored. Use ${similar}`;
    notice(`${pointer}/${escapePointerToken(keyword)}`, message);
  }
  // Preparing each schema of a large document would take long.
  const impossibleIn = (part: Json) =>
    tree.facts(part).isClosed ? schemas.at(part, 'example').impossibleNames : [];
  const reported = new Set(tree.joinedBy(schema).flatMap(impossibleIn));
  for (const name of impossibleIn(schema)) {
    if (reported.has(name)) continue;
    const reason = 'additionalProperties is false and properties does not declare it';
    notice(pointer, `no object is valid: ${name} is required, but ${reason}`);
  }
}
