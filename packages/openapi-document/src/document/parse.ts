import { CORE_SCHEMA, load, mergeTag, YAMLException } from 'js-yaml';
import { DocumentError } from './document.ts';

/** Deeper than any document is written; the default is 100. */
export const MAX_YAML_DEPTH = 1000;

const SCHEMA = CORE_SCHEMA.withTags(mergeTag);

/**
 * Parses YAML 1.2 with merge keys, or JSON.
 *
 * @throws {DocumentError} with line and column of a syntax error.
 */
export function parseFile(file: string, text: string): unknown {
  try {
    const value: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
    if (value !== undefined && keysOf(value) === keysIn(text)) return value;
  } catch {
    // The YAML parser names the position of the error.
  }
  try {
    return load(text, { schema: SCHEMA, maxDepth: MAX_YAML_DEPTH });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { line = 0, column = 0 } = error.mark ?? {};
    throw new DocumentError(`${file}:${line + 1}:${column + 1} ${error.reason}`);
  }
}

/** The number of keys in a value. */
function keysOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const items = Object.values(value);
  return items.reduce((sum, item) => sum + keysOf(item), Array.isArray(value) ? 0 : items.length);
}

/** The number of keys in a JSON text. It has more than its value if one comes twice, of which `JSON.parse` says nothing. */
function keysIn(text: string): number {
  let count = 0;
  for (const [, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"\s*(:?)/g)) if (colon === ':') count += 1;
  return count;
}
