import {
  CORE_SCHEMA,
  defineScalarTag,
  type Event,
  intCoreTag,
  load,
  mergeTag,
  parseEvents,
  YAMLException,
} from 'js-yaml';
import { parseJson, parseNumber } from '../json/exact.ts';
import { DocumentError } from './document.ts';

/** Deeper than any document is written; the default is 100. */
const maxDepth = 1000;

/** Integers beyond 2^53 as bigints; those with leading zeros or in another base as doubles. */
const exactInteger = defineScalarTag(intCoreTag.tagName, {
  ...intCoreTag,
  resolve(source, ...rest) {
    const value = intCoreTag.resolve(source, ...rest);
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? (parseNumber(source) ?? value) : value;
  },
});

const schema = CORE_SCHEMA.withTags(mergeTag, exactInteger);

/** The most lists and mappings that aliases may repeat. What reads the document would meet each of them. */
const MOST_REPEATED = 100_000;

/**
 * Parses YAML 1.2 with merge keys, or JSON. Integers of int64 beyond 2^53 are bigints.
 *
 * @throws {DocumentError} with line and column of a syntax error.
 */
export function parseFile(file: string, text: string): unknown {
  try {
    if (text.startsWith('{')) return parseJson(text);
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
 * other parsers read it. If the parser stops for that, each line that begins with such an end is indented.
 */
function readYaml<T>(text: string, read: (text: string) => T): T {
  try {
    return read(text);
  } catch (error) {
    const line = error instanceof YAMLException ? text.split('\n')[error.mark?.line ?? 0] : undefined;
    if (line === undefined || !/^ *[\]}]/.test(line)) throw error;
    return read(text.replace(BLOCK_OR_END, (found) => found || ' '.repeat(80)));
  }
}

/** A text in lines of its own (YAML 1.2 §8.1) with the line before it, or the start of a line that begins with an end. */
const BLOCK_OR_END = /^( *).*[|>][-+\d]*(?: +#.*)?\r?\n(?:(?:\1 .*| *)(?:\n|$))*|^(?= *[\]}])/gm;

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
