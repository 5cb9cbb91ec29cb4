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
  directPointer,
  escapePointerToken,
  type Finding,
  type Json,
  type Location,
  pointersTo,
} from './document.ts';

/** The maximum nesting of a document. Some documents need more than the parser's default of 100. */
const maxDepth = 1000;

/** Parses decimal integers beyond 2^53 as bigints. */
const exactInteger = defineScalarTag(intCoreTag.tagName, {
  ...intCoreTag,
  resolve(source, ...rest) {
    const value = intCoreTag.resolve(source, ...rest);
    return Number.isInteger(value) && !Number.isSafeInteger(value)
      ? (parseNumber(source) ?? value)
      : value;
  },
});

const schema = CORE_SCHEMA.withTags(mergeTag, exactInteger);

/** The maximum number of arrays and objects that aliases repeat. Each repetition is validated. */
const MAX_REPEATED = 100_000;

/**
 * Parses YAML 1.2 with merge keys, or JSON, with exact integers.
 *
 * @throws {DocumentError} with the position of a syntax error.
 */
export function parseFile(file: string, text: string): unknown {
  try {
    if (text.startsWith('{')) return parseJson(text);
  } catch {
    // The YAML parser reports the position of the error.
  }
  try {
    const value = readYaml(text, (readable) => load(readable, { schema, maxDepth }));
    const sizes = new Map<object, number>();
    if (countMembers(value, sizes) <= sizes.size + MAX_REPEATED) return value;
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const conflict = conflictIn(text);
    if (conflict !== undefined) throw new DocumentError(`${file}:${conflict}`);
    const { line = 0, column = 0 } = error.mark ?? {};
    const hint = HINTS[error.reason];
    const reason = hint === undefined ? error.reason : `${error.reason}: ${hint}`;
    throw new DocumentError(`${file}:${line + 1}:${column + 1} ${reason}`);
  }
  throw new DocumentError(
    `${file}:1:1 aliases repeat more than ${MAX_REPEATED} lists and mappings: use fewer aliases`,
  );
}

/** Returns the position and a message if the text has a git merge conflict. */
export function conflictIn(text: string): string | undefined {
  const marker = /^(?:<{7}|>{7})(?= |\r?$)/m.exec(text);
  if (marker === null) return undefined;
  const line = text.slice(0, marker.index).split('\n').length;
  return `${line}:1 has a merge conflict (${marker[0]}): resolve it first`;
}

/** Advice for error messages of the parser. */
const HINTS: Readonly<Record<string, string>> = {
  'bad indentation of a mapping entry':
    'a text that contains ": " or " #", or begins with @ or `, needs quotation marks',
  'deficient indentation':
    'indent this line more than the key above it, or end the bracket or quotation mark before it',
};

/** The maximum number of repairs in one file. */
const MAX_REPAIRS = 50;

/**
 * Reads YAML 1.2. Repairs two mistakes that other parsers accept:
 *
 * - a flow collection or a quoted string that continues in the column of its key,
 * - a comment without a space after a quotation mark.
 */
function readYaml<T>(text: string, read: (text: string) => T): T {
  let readable = text;
  let firstError: unknown;
  for (let repairs = 0; repairs <= MAX_REPAIRS; repairs += 1) {
    try {
      return read(readable);
    } catch (error) {
      firstError ??= error;
      const repaired = error instanceof YAMLException ? repairedYaml(readable, error) : undefined;
      if (repaired === undefined) break;
      readable = repaired;
    }
  }
  throw firstError;
}

/** Inserts spaces at the position of an error, which do not change the parsed value. */
function repairedYaml(text: string, { reason, mark }: YAMLException): string | undefined {
  const { position = 0, column = 0 } = mark ?? {};
  const start = position - column;
  if (/["']#/.test(text.slice(position - 1, position + 1)))
    return `${text.slice(0, position)} ${text.slice(position)}`;
  if (reason !== 'deficient indentation') return undefined;
  // Repairs all lines that begin with a closing bracket at once: a document may have thousands.
  if (/^ *[\]}]/.test(text.slice(start))) {
    return text.replace(BLOCK_OR_END, (match) => match || INDENT);
  }
  return text.slice(0, start) + INDENT + text.slice(start);
}

const INDENT = ' '.repeat(80);

/**
 * Matches a block scalar (YAML 1.2 §8.1) with the line before it, so that its lines are skipped.
 * Otherwise matches the start of a line that begins with a closing bracket.
 */
const BLOCK_OR_END = /^( *).*[|>][-+\d]*(?: +#.*)?\r?\n(?:(?:\1 .*| *)(?:\n|$))*|^(?= *[\]}])/gm;

/** Counts the arrays and objects in a value. Each alias counts as a copy. Infinite if circular. */
function countMembers(value: unknown, sizes: Map<object, number>): number {
  if (typeof value !== 'object' || value === null) return 0;
  const cachedSize = sizes.get(value);
  if (cachedSize !== undefined) return cachedSize;
  sizes.set(value, Number.POSITIVE_INFINITY);
  const size = Object.values(value).reduce<number>(
    (sum, item) => sum + countMembers(item, sizes),
    1,
  );
  sizes.set(value, size);
  return size;
}

/**
 * Formats findings as sorted, distinct lines: `file:line:column message`. Findings about the same
 * file become one line.
 *
 * @param positionsOf returns the positions of pointers.
 */
export function describeFindings(
  findings: readonly Finding[],
  positionsOf: (pointers: readonly string[]) => readonly string[],
): string {
  const byFile = Map.groupBy(findings, ({ about }) => about);
  const described = [...byFile].flatMap(([about, [first, ...repeated]]): readonly Finding[] => {
    if (about === undefined || first === undefined || repeated.length === 0)
      return byFile.get(about) ?? [];
    const message = `${first.message} (referenced ${repeated.length + 1} times)`;
    return [{ pointer: first.pointer, message }];
  });
  const positions = positionsOf(described.map(({ pointer }) => pointer));
  const lines = new Set(described.map(({ message }, index) => `${positions[index]} ${message}`));
  const byNumbers = new Intl.Collator('en', { numeric: true });
  return [...lines].sort(byNumbers.compare).join('\n');
}

/** Returns the location of a part of a document of several files. */
export function originOf(
  file: string,
  root: Json,
  origins: ReadonlyMap<string, Location>,
  pointer: string,
): Location {
  const target = directPointer(root, pointer);
  const at = pointersTo(target).findLast((outer) => origins.has(outer)) ?? '';
  const origin = origins.get(at) ?? { file, pointer: '' };
  return { file: origin.file, pointer: origin.pointer + target.slice(at.length) };
}

/**
 * Returns `file:line:column` of each location, or of the nearest enclosing value in the text. Reads
 * each file again: positions are not kept, since only messages need them.
 */
export function positionsOf(locations: readonly Location[]): string[] {
  const byFile = Map.groupBy(locations, ({ file }) => file);
  const positions = new Map(
    [...byFile].map(([file, inFile]) => {
      const searched = new Set(inFile.flatMap(({ pointer }) => pointersTo(pointer)));
      return [file, findPositions(readFileSync(file, 'utf8'), searched)];
    }),
  );
  return locations.map(({ file, pointer }) => {
    const inFile = positions.get(file);
    const nearest = pointersTo(pointer).findLast((outer) => inFile?.has(outer));
    return `${file}:${inFile?.get(nearest ?? '') ?? '1:1'}`;
  });
}

/** Returns `line:column` of keys of mappings and of items of sequences, by their pointers. */
function findPositions(source: string, searched: ReadonlySet<string>): ReadonlyMap<string, string> {
  const { text, events } = readYaml(source, (readable) => ({
    text: readable,
    events: parseEvents(readable, { maxDepth }),
  }));
  const positionsByPointer = new Map<string, string>();
  const lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  let at = events.findIndex(({ type }) => type !== EVENT_ID.DOCUMENT);
  visit('');
  return positionsByPointer;

  /** Reads the events of one node. Without a pointer, the node is skipped. */
  function visit(pointer: string | undefined): void {
    const type = events[at]?.type;
    at += 1;
    if (type !== EVENT_ID.MAPPING && type !== EVENT_ID.SEQUENCE) return;
    for (let count = 0; ; count += 1) {
      const event = events[at];
      if (event === undefined || event.type === EVENT_ID.POP) break;
      let member: string | undefined;
      if (pointer !== undefined && event.type !== EVENT_ID.DOCUMENT) {
        const isKey = type === EVENT_ID.MAPPING;
        const key = isKey && event.type === EVENT_ID.SCALAR ? getScalarValue(text, event) : count;
        member = `${pointer}/${escapePointerToken(key)}`;
        if (searched.has(member))
          positionsByPointer.set(member, positionOf(anchorPosition(text, event)));
        else member = undefined;
      }
      if (type === EVENT_ID.MAPPING) visit(undefined);
      visit(member);
    }
    at += 1;
  }

  function positionOf(offset: number): string {
    const line = lineStarts.findLastIndex((start) => start <= offset);
    return `${line + 1}:${offset - (lineStarts[line] ?? 0) + 1}`;
  }
}

/** Returns the offset of a node. Its event leaves out a quotation mark or `*` at the start. */
function anchorPosition(text: string, node: Extract<Event, { anchorStart: number }>): number {
  let at = node.anchorStart;
  if ('start' in node) at = node.start;
  else if ('valueStart' in node) at = node.valueStart;
  return /["'*]/.test(text.charAt(at - 1)) ? at - 1 : at;
}
