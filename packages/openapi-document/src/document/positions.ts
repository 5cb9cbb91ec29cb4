import { readFileSync } from 'node:fs';
import { EVENT_ID, type Event, getScalarValue } from 'js-yaml';
import {
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
      const wanted = new Set(inFile.flatMap(({ pointer }) => pointersAround(pointer)));
      return [file, findPositions(readFileSync(file, 'utf8'), wanted)];
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

/** The positions of what is wanted, by pointer: of the keys of mappings, and of the items of sequences. */
function findPositions(source: string, wanted: ReadonlySet<string>): ReadonlyMap<string, string> {
  const { text, events } = eventsOf(source);
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
        if (wanted.has(member)) found.set(member, positionOf(startOf(text, event)));
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
