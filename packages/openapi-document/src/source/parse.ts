import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import {
  CORE_SCHEMA,
  defineScalarTag,
  EVENT_ID,
  type Event,
  getScalarValue,
  intCoreTag,
  load,
  mergeTag,
  parseEvents,
  YAMLException,
} from 'js-yaml';
import { parseJson } from '../json/exact.ts';
import { parseNumber } from '../json/parser.ts';
import {
  DocumentError,
  directPointer,
  escapePointerToken,
  type Finding,
  type Json,
  type Location,
  onFirstUse,
  pointersTo,
} from './document.ts';

/** The maximum nesting of a document. Some documents need more than the parser's default of 100. */
const maxDepth = 1000;

/** Parses integers of int64 beyond ±(2^53−1), in the syntax of JSON, as bigints. */
const exactInteger = defineScalarTag(intCoreTag.tagName, {
  ...intCoreTag,
  resolve(source, ...rest) {
    const value = intCoreTag.resolve(source, ...rest);
    return Number.isInteger(value) && !Number.isSafeInteger(value)
      ? (parseNumber(source) ?? value)
      : value;
  },
});

const yamlSchema = CORE_SCHEMA.withTags(mergeTag, exactInteger);

/** The maximum number of arrays and objects that aliases repeat. Each repetition is validated. */
const MAX_REPEATED = 100_000;

/** Returns true for a file that is one text. Descriptions may reference it. */
const isMarkdown = (file: string): boolean => extname(file) === '.md';

/**
 * Parses YAML 1.2 with merge keys, or JSON, with exact integers. Returns Markdown as a text.
 *
 * @throws {DocumentError} with the position of a syntax error.
 */
export function parseFile(file: string, text: string): unknown {
  if (isMarkdown(file)) return text;
  try {
    if (text.startsWith('{')) return parseJson(text, { isLenient: true });
  } catch {
    // The YAML parser reports the position of the error.
  }
  try {
    const value = load(text, { schema: yamlSchema, maxDepth });
    const sizes = new Map<object, number>();
    if (countComposites(value, sizes) <= sizes.size + MAX_REPEATED) return value;
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { line, column } = error.mark ?? { line: 0, column: 0 };
    throw new DocumentError(`${file}:${line + 1}:${column + 1} ${error.reason}`);
  }
  throw new DocumentError(
    `${file}:1:1 aliases repeat more than ${MAX_REPEATED} lists and mappings: use fewer aliases`,
  );
}

/** Counts the arrays and objects in a value. Each alias counts as a copy. Infinite if circular. */
function countComposites(value: unknown, sizes: Map<object, number>): number {
  if (typeof value !== 'object' || value === null) return 0;
  const cachedSize = sizes.get(value);
  if (cachedSize !== undefined) return cachedSize;
  sizes.set(value, Number.POSITIVE_INFINITY);
  const size = Object.values(value).reduce<number>(
    (sum, item) => sum + countComposites(item, sizes),
    1,
  );
  sizes.set(value, size);
  return size;
}

/** Formats findings as sorted, distinct lines: `file:line:column message`. */
export function describeFindings(
  findings: readonly Finding[],
  positionsOf: (pointers: readonly string[]) => readonly string[],
): string {
  const positions = positionsOf(findings.map(({ pointer }) => pointer));
  const lines = new Set(findings.map(({ message }, index) => `${positions[index]} ${message}`));
  const byNumbers = new Intl.Collator('en', { numeric: true });
  return [...lines].sort(byNumbers.compare).join('\n');
}

/**
 * If there are more than `limit`, merges findings with the same message into the first one, with
 * the number of their places.
 */
export function mergeFindings(
  findings: readonly Finding[],
  limit: number,
  locationOf: (pointer: string) => Location,
): readonly Finding[] {
  if (findings.length <= limit) return findings;
  const merged = new Map<string, { readonly first: Finding; readonly places: Set<string> }>();
  for (const finding of findings) {
    const { file, pointer } = locationOf(finding.pointer);
    const group = merged.get(finding.message) ?? { first: finding, places: new Set<string>() };
    merged.set(finding.message, group);
    group.places.add(`${file}#${pointer}`);
  }
  return [...merged.values()].map(({ first, places }) => {
    const count = places.size > 1 ? ` (${places.size} places)` : '';
    return { ...first, message: first.message + count };
  });
}

/** Returns the original location of a part of a bundled document. @param origins see `bundle`. */
export function originOf(
  file: string,
  root: Json,
  origins: ReadonlyMap<string, Location>,
  pointer: string,
): Location {
  const target = directPointer(root, pointer);
  const copiedPart = pointersTo(target).findLast((outer) => origins.has(outer)) ?? '';
  const origin = origins.get(copiedPart) ?? { file, pointer: '' };
  return { file: origin.file, pointer: origin.pointer + target.slice(copiedPart.length) };
}

/**
 * Returns a function that returns `file:line:column` of each location, or of the nearest enclosing
 * value in the text. A document without a file has pointers. Reads each file once in a task, and
 * keeps nothing for later ones, since only messages need positions.
 */
export function positionReader(): (locations: readonly Location[]) => string[] {
  let positionOf: ((file: string) => (pointer: string) => string | undefined) | undefined;
  return (locations) => {
    positionOf ??= onFirstUse(positionsIn);
    const read = positionOf;
    queueMicrotask(() => {
      positionOf = undefined;
    });
    return locations.map(({ file, pointer }) => {
      if (file === '') return `#${pointer}`;
      const positions = pointersTo(pointer).reverse().values().map(read(file));
      return `${file}:${positions.find((position) => position !== undefined) ?? '1:1'}`;
    });
  };
}

/** Returns a function that finds `line:column` of a key of a mapping or an item of a sequence. */
function positionsIn(file: string): (pointer: string) => string | undefined {
  if (isMarkdown(file)) return () => undefined;
  const text = readFileSync(file, 'utf8');
  const events = parseEvents(text, { maxDepth });
  const offsets = new Map<string, number>();
  const lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  let eventIndex = events.findIndex(({ type }) => type !== EVENT_ID.DOCUMENT);
  visit('');
  return (pointer) => {
    const offset = offsets.get(pointer);
    if (offset === undefined) return undefined;
    const line = lineStarts.findLastIndex((start) => start <= offset);
    return `${line + 1}:${offset - (lineStarts[line] ?? 0) + 1}`;
  };

  /** Reads the events of one node. */
  function visit(pointer: string): void {
    const type = events[eventIndex]?.type;
    eventIndex += 1;
    if (type !== EVENT_ID.MAPPING && type !== EVENT_ID.SEQUENCE) return;
    for (let count = 0; ; count += 1) {
      const event = events[eventIndex];
      if (event === undefined || event.type === EVENT_ID.POP) break;
      const isMapping = type === EVENT_ID.MAPPING;
      const key = isMapping && event.type === EVENT_ID.SCALAR ? getScalarValue(text, event) : count;
      const member = `${pointer}/${escapePointerToken(key)}`;
      if (event.type !== EVENT_ID.DOCUMENT) offsets.set(member, offsetOf(text, event));
      // A key may be a mapping. Pointers do not lead into it.
      if (isMapping) visit('?');
      visit(member);
    }
    eventIndex += 1;
  }
}

/** The event of a node leaves out a quotation mark or `*` at the start. */
function offsetOf(text: string, node: Extract<Event, { anchorStart: number }>): number {
  let offset = node.anchorStart;
  if ('start' in node) offset = node.start;
  else if ('valueStart' in node) offset = node.valueStart;
  return /["'*]/.test(text.charAt(offset - 1)) ? offset - 1 : offset;
}
