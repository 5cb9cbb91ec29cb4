import { readFileSync } from 'node:fs';
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
import { parseJson, parseNumber } from '../json/exact.ts';
import {
  DocumentError,
  escapePointerToken,
  type Finding,
  isObject,
  type Json,
  type Location,
  pointerTokens,
  valueAt,
} from './document.ts';

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

/** A document without this holds no integer beyond 2^53. Digests, as in examples, often have the form of one with an exponent. */
const LARGE = /\d{16}(?:[\s,\]}]|$)/;

/** The most lists and mappings that aliases may repeat. What reads the document would meet each of them. */
const MOST_REPEATED = 100_000;

/** Parses YAML 1.2 with merge keys, or JSON, with exact integers. @throws {DocumentError} with the place of a syntax error. */
export function parseFile(file: string, text: string): unknown {
  try {
    if (text.startsWith('{')) return LARGE.test(text) ? parseJson(text) : JSON.parse(text);
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

/** The findings as text, one line each, in the order of the files: `file:line:column message`. Equal lines appear once. */
export function describeFindings(
  file: string,
  root: Json,
  origins: ReadonlyMap<string, Location>,
  findings: readonly Finding[],
): string {
  const positions = positionsOf(
    findings.map(({ pointer }) => {
      const target = direct(root, pointer);
      const at = pointersAround(target).findLast((around) => origins.has(around)) ?? '';
      const origin = origins.get(at) ?? { file, pointer: '' };
      return { file: origin.file, pointer: origin.pointer + target.slice(at.length) };
    }),
  );
  const lines = new Set(findings.map(({ message }, index) => `${positions[index]} ${message}`));
  const byNumbers = new Intl.Collator('en', { numeric: true });
  return [...lines].sort(byNumbers.compare).join('\n');
}

/** The pointer that leads to the same value without passing a `$ref`. */
function direct(root: Json, pointer: string): string {
  let at = '';
  let value: unknown = root;
  let hops = 0;
  for (const key of pointerTokens(pointer)) {
    for (; isObject(value) && !Object.hasOwn(value, key) && typeof value.$ref === 'string' && hops < 100; hops++) {
      at = decodeURIComponent(value.$ref.slice(1));
      value = valueAt(root, at);
    }
    at += `/${escapePointerToken(key)}`;
    value = Object(value)[key];
  }
  return at;
}

/**
 * `file:line:column` of each place, or of the nearest place around it that the text shows. Reads each file again, once:
 * only messages need positions.
 */
export function positionsOf(places: readonly Location[]): string[] {
  const byFile = Map.groupBy(places, ({ file }) => file);
  const positions = new Map(
    [...byFile].map(([file, inFile]) => {
      const searched = new Set(inFile.flatMap(({ pointer }) => pointersAround(pointer)));
      return [file, findPositions(readFileSync(file, 'utf8'), searched)];
    }),
  );
  return places.map(({ file, pointer }) => {
    const found = pointersAround(pointer).map((around) => positions.get(file)?.get(around));
    return `${file}:${found.findLast((position) => position !== undefined) ?? '1:1'}`;
  });
}

/** A pointer, and before it those that lead to the values around it. */
const pointersAround = (pointer: string): string[] =>
  [...pointer.matchAll(/\/|$/g)].map(({ index }) => pointer.slice(0, index));

/** The positions of the searched places, by pointer: of the keys of mappings, and of the items of sequences. */
function findPositions(source: string, searched: ReadonlySet<string>): ReadonlyMap<string, string> {
  const { text, events } = readYaml(source, (readable) => ({
    text: readable,
    events: parseEvents(readable, { maxDepth }),
  }));
  const found = new Map<string, string>();
  let [line, start, end] = [1, 0, text.indexOf('\n')];
  let at = events.findIndex(({ type }) => type !== EVENT_ID.DOCUMENT);
  visit('');
  return found;

  /** Goes behind the node at the next event. What is inside is looked at if it has a pointer. */
  function visit(pointer: string | undefined): void {
    const type = events[at++]?.type;
    if (type !== EVENT_ID.MAPPING && type !== EVENT_ID.SEQUENCE) return;
    for (let count = 0, event = events[at]; event && event.type !== EVENT_ID.POP; count++, event = events[at]) {
      let member: string | undefined;
      if (pointer !== undefined && event.type !== EVENT_ID.DOCUMENT) {
        const isKey = type === EVENT_ID.MAPPING;
        const key = isKey && event.type === EVENT_ID.SCALAR ? getScalarValue(text, event) : count;
        member = `${pointer}/${escapePointerToken(key)}`;
        if (searched.has(member)) found.set(member, positionOf(startOf(text, event)));
        else member = undefined;
      }
      if (type === EVENT_ID.MAPPING) visit(undefined);
      visit(member);
    }
    at += 1;
  }

  /** Each offset is behind the one before. */
  function positionOf(offset: number): string {
    for (; end >= 0 && end < offset; end = text.indexOf('\n', start)) [line, start] = [line + 1, end + 1];
    return `${line}:${offset - start + 1}`;
  }
}

/** Where a node begins. The events name what is behind a quotation mark and behind the `*` of an alias. */
function startOf(text: string, node: Extract<Event, { anchorStart: number }>): number {
  const at = 'start' in node ? node.start : 'valueStart' in node ? node.valueStart : node.anchorStart;
  return /["'*]/.test(text.charAt(at - 1)) ? at - 1 : at;
}
