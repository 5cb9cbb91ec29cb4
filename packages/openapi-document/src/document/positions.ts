import { existsSync, readFileSync } from 'node:fs';
import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE } from 'js-yaml';
import {
  type Document,
  escapePointerToken,
  type Finding,
  isObject,
  type Json,
  type Location,
  pointerTokens,
  valueAt,
} from './document.ts';
import { eventsOf } from './parse.ts';

/** The findings as text, one line each, in the order of the files: `file:line:column message`. Equal lines appear once. */
export function describeFindings(document: Document, findings: readonly Finding[]): string {
  const positions = positionsOf(findings.map((finding) => locationOf(document, finding)));
  const lines = new Set(findings.map(({ message }, index) => `${positions[index]} ${message}`));
  const byNumbers = new Intl.Collator('en', { numeric: true });
  return [...lines].sort(byNumbers.compare).join('\n');
}

/** The file of a finding and the pointer there, references followed. */
function locationOf({ file, root, origins = new Map() }: Document, finding: Finding): Location {
  if (finding.file !== undefined) return { file: finding.file, pointer: finding.pointer };
  const target = direct(root, finding.pointer);
  for (let at = target; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const origin = origins.get(at);
    if (origin !== undefined) return { file: origin.file, pointer: origin.pointer + target.slice(at.length) };
  }
  return { file, pointer: target };
}

/** The pointer that leads to the same value without passing a `$ref`. */
function direct(root: Json, pointer: string, hops = 0): string {
  let value: unknown = root;
  const tokens = pointerTokens(pointer);
  for (const [index, key] of tokens.entries()) {
    if (typeof value !== 'object' || value === null) break;
    const { $ref } = value as Json;
    if (!Object.hasOwn(value, key) && typeof $ref === 'string' && isObject(valueAt(root, $ref)) && hops < 100) {
      const rest = tokens.slice(index).map((part) => `/${escapePointerToken(part)}`);
      return direct(root, decodeURIComponent($ref.slice(1)) + rest.join(''), hops + 1);
    }
    value = (value as Record<string, unknown>)[key];
  }
  return pointer;
}

/** A place whose position is asked for, or one around it. */
interface Target {
  /** `line:column`, once it is found. */
  position?: string;
  readonly members: Map<string, Target>;
}

/**
 * `file:line:column` of each place, or of the nearest place around it that the text shows. Reads each file again, once:
 * only messages need positions.
 */
export function positionsOf(places: readonly Location[]): string[] {
  const found = new Map<Location, string>();
  for (const [file, inFile] of Map.groupBy(places, (place) => place.file)) {
    // A linter also names files that a reference does not find.
    if (!existsSync(file)) continue;
    const root: Target = { position: '1:1', members: new Map() };
    const chains = inFile.map(({ pointer }) => {
      const chain = [root];
      for (const key of pointerTokens(pointer)) {
        const { members } = chain.at(-1) ?? root;
        const next = members.get(key) ?? { members: new Map() };
        members.set(key, next);
        chain.push(next);
      }
      return chain;
    });
    findPositions(readFileSync(file, 'utf8'), root);
    for (const [index, place] of inFile.entries()) {
      found.set(place, `${file}:${chains[index]?.findLast(({ position }) => position)?.position}`);
    }
  }
  return places.map((place) => found.get(place) ?? place.file);
}

/** A mapping or a sequence that is open at an event. */
interface Frame {
  readonly target: Target | undefined;
  readonly isMapping: boolean;
  /** How many nodes it has had: the items of a sequence; the keys and values of a mapping, in turn. */
  count: number;
  /** What is wanted of the value of the latest key. */
  value?: Target | undefined;
}

/** Sets the positions of what is wanted: of the keys of mappings, and of the items of sequences. */
function findPositions(source: string, root: Target): void {
  const { text, events } = eventsOf(source);
  const positionAt = positionsIn(text);
  const stack: Frame[] = [];
  for (const event of events) {
    if (event.type === EVENT_ID.POP) stack.pop();
    if (event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP) continue;
    const frame = stack.at(-1);
    const count = frame === undefined ? 0 : frame.count++;
    let target = frame === undefined ? root : frame.value;
    if (frame !== undefined && !(frame.isMapping && count % 2 === 1)) {
      const key = event.type === EVENT_ID.SCALAR && frame.isMapping ? getScalarValue(text, event) : String(count);
      target = frame.target?.members.get(key);
      if (target !== undefined) target.position = positionAt(startOf(event));
      if (frame.isMapping) frame.value = target;
    }
    if (event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE) {
      stack.push({ target, isMapping: event.type === EVENT_ID.MAPPING, count: 0 });
    }
  }
}

function startOf(node: Extract<Event, { anchorStart: number }>): number {
  if (node.type === EVENT_ID.ALIAS) return node.anchorStart - 1;
  if (node.type !== EVENT_ID.SCALAR) return node.start;
  const isQuoted = node.style === SCALAR_STYLE.SINGLE_QUOTED || node.style === SCALAR_STYLE.DOUBLE_QUOTED;
  return isQuoted ? node.valueStart - 1 : node.valueStart;
}

/** Makes a function that returns `line:column` of an offset, which must not be before the offset of the last call. */
function positionsIn(text: string): (offset: number) => string {
  let line = 1;
  let start = 0;
  let end = text.indexOf('\n');
  return (offset) => {
    for (; end >= 0 && end < offset; end = text.indexOf('\n', start)) {
      line += 1;
      start = end + 1;
    }
    return `${line}:${offset - start + 1}`;
  };
}
