import { readFileSync } from 'node:fs';
import { EVENT_ID, getScalarValue, parseEvents, SCALAR_STYLE, type ScalarEvent } from 'js-yaml';
import { type Document, type Finding, isObject, type Json, type Place, token, tokensOf, valueAt } from './document.ts';
import { MAX_YAML_DEPTH } from './parse.ts';

const byNumbers = new Intl.Collator('en', { numeric: true });

/** The findings as text, one line each, by place: `file:line:column message`. Equal lines appear once. */
export function describeFindings(document: Document, findings: readonly Finding[]): string {
  const places = placesOf(document, findings);
  const lines = new Set(findings.map(({ message }, index) => `${places[index]} ${message}`));
  return [...lines].sort(byNumbers.compare).join('\n');
}

/** `file:line:column` of each pointer in the document. */
export const placesOf = (document: Document, pointers: readonly { readonly pointer: string }[]): string[] =>
  positionsOf(pointers.map(({ pointer }) => placeOf(document, pointer)));

/** The file and the pointer there of a place in the document, references followed. */
function placeOf({ file, root, origins = new Map() }: Document, pointer: string): Place {
  const target = direct(root, pointer);
  for (let at = target; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const origin = origins.get(at);
    if (origin !== undefined) return { file: origin.file, pointer: origin.pointer + target.slice(at.length) };
  }
  return { file, pointer: target };
}

/** The pointer that leads to the same value without passing a `$ref`. */
function direct(root: Json, pointer: string, hops = 0): string {
  let value: unknown = root;
  const tokens = tokensOf(pointer);
  for (const [index, key] of tokens.entries()) {
    if (typeof value !== 'object' || value === null) break;
    const { $ref } = value as Json;
    if (!Object.hasOwn(value, key) && typeof $ref === 'string' && isObject(valueAt(root, $ref)) && hops < 100) {
      const rest = tokens.slice(index).map((part) => `/${token(part)}`);
      return direct(root, decodeURIComponent($ref.slice(1)) + rest.join(''), hops + 1);
    }
    value = (value as Record<string, unknown>)[key];
  }
  return pointer;
}

/** A place whose offset is asked for, or one around it. */
interface Wanted {
  offset: number;
  readonly members: Map<string, Wanted>;
}

/**
 * `file:line:column` of each place, or of the nearest place around it that the text shows. Reads each file again, once:
 * only messages need positions.
 */
export function positionsOf(places: readonly Place[]): string[] {
  const found = new Map<Place, string>();
  for (const [file, inFile] of Map.groupBy(places, (place) => place.file)) {
    const text = readFileSync(file, 'utf8');
    const root: Wanted = { offset: 0, members: new Map() };
    const chains = inFile.map(({ pointer }) => {
      const chain = [root];
      for (const key of tokensOf(pointer)) {
        const { members } = chain.at(-1) ?? root;
        const next = members.get(key) ?? { offset: -1, members: new Map() };
        members.set(key, next);
        chain.push(next);
      }
      return chain;
    });
    findOffsets(text, root);
    const lines = lineStarts(text);
    for (const [index, place] of inFile.entries()) {
      const offset = chains[index]?.findLast((wanted) => wanted.offset >= 0)?.offset ?? 0;
      const line = lineOf(lines, offset);
      found.set(place, `${file}:${line + 1}:${offset - (lines[line] ?? 0) + 1}`);
    }
  }
  return places.map((place) => found.get(place) ?? place.file);
}

/** A mapping or a sequence that is open at an event. */
interface Frame {
  readonly wanted: Wanted | undefined;
  readonly isMapping: boolean;
  /** Of a sequence: the index of the next item. */
  index: number;
  /** Of a mapping: whether the next node is a key; else what is wanted of its value. */
  atKey: boolean;
  value: Wanted | undefined;
}

/** Sets the offsets of what is wanted: of the keys of mappings, and of the items of sequences. */
function findOffsets(text: string, root: Wanted): void {
  const stack: Frame[] = [];
  for (const event of parseEvents(text, { maxDepth: MAX_YAML_DEPTH })) {
    if (event.type === EVENT_ID.POP) stack.pop();
    if (event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP) continue;
    const frame = stack.at(-1);
    let wanted: Wanted | undefined = root;
    if (frame?.isMapping && frame.atKey) {
      frame.atKey = false;
      frame.value = event.type === EVENT_ID.SCALAR ? frame.wanted?.members.get(getScalarValue(text, event)) : undefined;
      wanted = undefined;
      if (frame.value !== undefined && event.type === EVENT_ID.SCALAR) frame.value.offset = startOf(event);
    } else if (frame?.isMapping) {
      frame.atKey = true;
      wanted = frame.value;
    } else if (frame !== undefined) {
      wanted = frame.wanted?.members.get(String(frame.index++));
      if (wanted !== undefined) {
        wanted.offset =
          event.type === EVENT_ID.SCALAR ? startOf(event) : 'start' in event ? event.start : event.anchorStart - 1;
      }
    }
    if (event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE) {
      const isMapping = event.type === EVENT_ID.MAPPING;
      stack.push({ wanted, isMapping, index: 0, atKey: isMapping, value: undefined });
    }
  }
}

const startOf = ({ style, valueStart }: ScalarEvent): number =>
  style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED ? valueStart - 1 : valueStart;

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  return starts;
}

/** The index of the line that holds an offset. */
function lineOf(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
