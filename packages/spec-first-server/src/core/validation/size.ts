import { escapePointerToken } from 'openapi-document';
import { isBytes } from './rewrite.ts';

export type Size = ReturnType<typeof measureValue>;

/**
 * Returns the properties of a value that limit how long its validation can take.
 *
 * @param degree matching a text of length n takes at most n ** degree steps.
 */
export function measureValue(value: unknown, degree: number) {
  const size = {
    /** Members of all objects and items of all arrays. */
    members: 0,
    /** Characters of the longest string. */
    longest: 0,
    /** The maximum number of steps of regular expressions, for all strings together. */
    steps: 0,
    depth: 0,
    hasBigint: false,
  };
  add(size, value, 0, degree);
  return size;
}

function add(size: Size, part: unknown, depth: number, degree: number): void {
  if (depth > size.depth) size.depth = depth;
  if (typeof part === 'string') {
    addText(size, part, degree);
  } else if (typeof part === 'bigint') {
    size.hasBigint = true;
  } else if (Array.isArray(part)) {
    size.members += part.length;
    // `for … in` over an array is several times slower.
    for (let index = 0; index < part.length; index += 1) add(size, part[index], depth + 1, degree);
  } else if (typeof part === 'object' && part !== null && !isBytes(part)) {
    for (const name in part) {
      size.members += 1;
      addText(size, name, degree);
      add(size, (part as Record<string, unknown>)[name], depth + 1, degree);
    }
  }
}

function addText(size: Size, { length }: string, degree: number): void {
  if (length > size.longest) size.longest = length;
  size.steps += degree === 1 ? length : length ** degree;
}

/**
 * Copies the start of a value. Also returns the paths of objects and arrays that are incomplete.
 *
 * @param maxMembers the maximum number of members and items, at all levels together.
 */
export function copyStart(source: unknown, maxMembers: number, path: string) {
  const incomplete = new Set<string>();
  let members = 0;
  return { value: copy(source, path), incomplete };

  function copy(value: unknown, pointer: string): unknown {
    if (typeof value !== 'object' || value === null || isBytes(value)) return value;
    const copied: [string, unknown][] = [];
    for (const [name, member] of Object.entries(value)) {
      if (members >= maxMembers) {
        incomplete.add(pointer);
        break;
      }
      members += 1;
      copied.push([name, copy(member, `${pointer}/${escapePointerToken(name)}`)]);
    }
    return Array.isArray(value) ? copied.map(([, member]) => member) : Object.fromEntries(copied);
  }
}
