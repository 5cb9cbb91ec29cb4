import { decoded, encodedPath } from './document.ts';

const PARAMETER = /\{([^{}]*)\}/g;

/** Parses a path template (OpenAPI 3.1 §4.8.8.2), such as `/plants/{id}.json`. */
export function pathTemplate(template: string) {
  const segments = template.split('/').map(segmentOf);
  return {
    /** The names of the parameters, in order. */
    names: [...template.matchAll(PARAMETER)].map(([, name = '']) => name),
    /** The template with `{}` for each parameter. Equal shapes match the same paths. */
    shape: template.replace(PARAMETER, '{}'),
    /** False if no request path can match: without a leading slash, with a query or a fragment. */
    isReachable: /^\/[^?#]*$/.test(template),
    segments,
    /**
     * Returns the percent-encoded values of the parameters, or `undefined` if the path does not
     * match. The path may begin with any base path.
     */
    match(path: string) {
      const pathSegments = path.split('/').slice(1 - segments.length);
      const values = segments
        .slice(1)
        .map((segment, index) => segment.match(pathSegments[index] ?? ''));
      return values.includes(undefined) ? undefined : values.flatMap((captures) => captures ?? []);
    },
    /** Returns a path. @param parameterText returns the percent-encoded value of a parameter. */
    write: (parameterText: (name: string) => string) =>
      encodedPath(template).replace(PARAMETER, (_match, name: string) =>
        parameterText(decoded(name)),
      ),
  };
}

function segmentOf(segment: string) {
  const texts = segment.split(/\{[^{}]*\}/).map(decoded);
  const bytes = texts.map((text) =>
    unitsOf(encodeURIComponent(text.toWellFormed())).map(decodedByte).join(''),
  );
  const [first = '', last = ''] = [bytes[0], bytes.at(-1)];
  const isText = texts.length === 1;
  const isParameter = texts.length === 2 && first + last === '';
  return {
    /** The decoded text before, between and after the parameters. */
    texts,
    /** Returns the percent-encoded values of a segment, or `undefined` if it does not match. */
    match(raw: string): string[] | undefined {
      if (isText) return raw === segment || decoded(raw) === texts[0] ? [] : undefined;
      if (!isParameter) return captured(raw);
      return raw === '' ? undefined : [raw];
    },
  };

  /**
   * Matches from right to left, so that the first parameter is the longest. Takes linear time,
   * unlike a regular expression.
   */
  function captured(raw: string): string[] | undefined {
    const units = unitsOf(raw);
    const text = units.map(decodedByte).join('');
    if (!text.startsWith(first) || !text.endsWith(last)) return undefined;
    const captures: string[] = [];
    let end = text.length - last.length;
    for (let index = bytes.length - 2; index >= 0; index -= 1) {
      const before = bytes[index] ?? '';
      const start = index === 0 ? 0 : text.lastIndexOf(before, end - 1 - before.length);
      if (start < 0 || start + before.length >= end) return undefined;
      captures.unshift(units.slice(start + before.length, end).join(''));
      end = start;
    }
    return captures;
  }
}

/** Splits a percent-encoded text into characters and encoded bytes. */
const unitsOf = (text: string): readonly string[] => text.match(/%[\da-f]{2}|./gis) ?? [];

const decodedByte = (unit: string): string =>
  unit.length === 3 ? String.fromCharCode(Number.parseInt(unit.slice(1), 16)) : unit;
