import { decoded } from './document.ts';

const PARAMETER = /\{([^{}]*)\}/g;

/** Parses a path template (OpenAPI 3.1 §4.8.8.2), such as `/plants/{id}` and `/plants/{id}.json`. */
export function pathTemplate(template: string) {
  const segments = template.split('/').map(segmentOf);
  return {
    /** The names of its parameters, in its order. */
    names: [...template.matchAll(PARAMETER)].map(([, name = '']) => name),
    /** The template without these names: templates of the same shape match the same paths. */
    shape: template.replace(PARAMETER, '{}'),
    /** Whether a request can have such a path: it has no query and no fragment. */
    isReachable: !/[?#]/.test(template),
    segments,
    /** The percent-encoded texts of the parameters in a path that may have a base path before it. */
    match(path: string) {
      const found = path.split('/').slice(1 - segments.length);
      // What is before the first slash is a base path.
      const texts = segments.slice(1).map((segment, index) => segment.match(found[index] ?? ''));
      return texts.includes(undefined) ? undefined : texts.flatMap((all) => all ?? []);
    },
    /** A path with each parameter as `write` returns it, and the other texts percent-encoded. */
    write: (write: (name: string) => string) =>
      template
        .replace(/[^\w{}!$&'()*+,;=:@%./~-]+/g, encodeURIComponent)
        .replace(PARAMETER, (_match, name: string) => write(decoded(name))),
  };
}

function segmentOf(segment: string) {
  const texts = segment.split(/\{[^{}]*\}/).map(decoded);
  const bytes = texts.map((text) => Buffer.from(text).toString('latin1'));
  const [first = '', last = ''] = [bytes[0], bytes.at(-1)];
  const isText = texts.length === 1;
  const isParameter = texts.length === 2 && first + last === '';
  return {
    /** The texts around the parameters, decoded, one more than these. A segment without parameters is one text. */
    texts,
    /** The percent-encoded texts of the parameters, or `undefined` if the segment of a path is another one. */
    match(raw: string): string[] | undefined {
      if (isText) return raw === segment || decoded(raw) === texts[0] ? [] : undefined;
      return isParameter ? (raw === '' ? undefined : [raw]) : captured(raw);
    },
  };

  /** From the right, so that the first parameter is as long as can be. Takes linear time, as regular expressions do not. */
  function captured(raw: string): string[] | undefined {
    const units = raw.match(/%[\da-f]{2}|./gis) ?? [];
    const text = units.map((unit) => (unit.length === 3 ? decodedByte(unit) : unit)).join('');
    if (!text.startsWith(first) || !text.endsWith(last)) return undefined;
    const found: string[] = [];
    let end = text.length - last.length;
    for (let index = bytes.length - 2; index >= 0; index -= 1) {
      const before = bytes[index] ?? '';
      const start = index === 0 ? 0 : text.lastIndexOf(before, end - 1 - before.length);
      if (start < 0 || start + before.length >= end) return undefined;
      found.unshift(units.slice(start + before.length, end).join(''));
      end = start;
    }
    return found;
  }
}

const decodedByte = (unit: string): string => String.fromCharCode(Number.parseInt(unit.slice(1), 16));
