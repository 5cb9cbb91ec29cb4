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
    if (text.startsWith('{') && !file.endsWith('.yaml')) return JSON.parse(text);
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
