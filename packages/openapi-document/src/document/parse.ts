import { createRequire } from 'node:module';
import { CORE_SCHEMA, type Event, load, mergeTag, parseEvents, YAMLException } from 'js-yaml';
import { DocumentError } from './document.ts';

/** Deeper than any document is written; the default is 100. */
const maxDepth = 1000;

const schema = CORE_SCHEMA.withTags(mergeTag);

/** The most lists and mappings that aliases may repeat. What reads the document would meet each of them. */
const MOST_REPEATED = 100_000;

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
    const value = readYaml(text, (readable) => load(readable, { schema, maxDepth }));
    const sizes = new Map<object, number>();
    if (sizeOf(value, sizes) <= sizes.size + MOST_REPEATED) return value;
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { line = 0, column = 0 } = error.mark ?? {};
    throw new DocumentError(`${file}:${line + 1}:${column + 1} ${error.reason}`);
  }
  throw new DocumentError(`${file}:1:1 its aliases repeat more than ${MOST_REPEATED} lists and mappings`);
}

/** The events of a YAML or JSON text that {@link parseFile} reads, and the text in which their offsets are. */
export const eventsOf = (source: string): { readonly text: string; readonly events: readonly Event[] } =>
  readYaml(source, (text) => ({ text, events: parseEvents(text, { maxDepth }) }));

/**
 * Many documents close a list or a mapping in the column of the key that holds it. YAML 1.2 forbids that, as js-yaml does;
 * other parsers read it.
 */
function readYaml<T>(text: string, read: (text: string) => T): T {
  try {
    return read(text);
  } catch (error) {
    const readable = error instanceof YAMLException ? indentEnds(text) : text;
    if (readable === text) throw error;
    return read(readable);
  }
}

/** Indents each `]` and `}` that is the first character of its line as the line that opens it is, and one column more. */
function indentEnds(text: string): string {
  const { CST, Parser }: typeof import('yaml') = createRequire(import.meta.url)('yaml');
  const ends = new Map<number, number>();
  const lineStart = (offset: number) => text.lastIndexOf('\n', offset - 1) + 1;
  for (const token of new Parser().parse(text)) {
    if (token.type !== 'document') continue;
    CST.visit(token, ({ value }) => {
      if (value?.type !== 'flow-collection') return;
      const { offset = -1 } = value.end.find(({ type }) => type === 'flow-map-end' || type === 'flow-seq-end') ?? {};
      const start = lineStart(offset);
      if (offset >= 0 && text.slice(start, offset).trim() === '')
        ends.set(start, value.offset - lineStart(value.offset));
    });
  }
  const starts = [...ends.keys()].sort((a, b) => a - b);
  const pieces = starts.map((start, index) => ' '.repeat(ends.get(start) ?? 0) + text.slice(start, starts[index + 1]));
  return text.slice(0, starts[0]) + pieces.join('');
}

/** How many lists and mappings a value has where each alias stands for a copy. Endless for one that contains itself. */
function sizeOf(value: unknown, sizes: Map<object, number>): number {
  if (typeof value !== 'object' || value === null) return 0;
  const known = sizes.get(value);
  if (known !== undefined) return known;
  sizes.set(value, Number.POSITIVE_INFINITY);
  const size = Object.values(value).reduce<number>((sum, item) => sum + sizeOf(item, sizes), 1);
  sizes.set(value, size);
  return size;
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
