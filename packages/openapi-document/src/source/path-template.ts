import { decoded, encodedPath } from './document.ts';

const PARAMETER = /\{([^{}]*)\}/g;

/** A path template (OpenAPI 3.1 §4.8.8.2), such as `/plants/{id}.json`. */
export interface PathTemplate {
  readonly text: string;
  /** The names of the parameters, in order. */
  readonly names: readonly string[];
  /** Equal shapes match the same paths. */
  readonly shape: string;
  /** False if no request path can match: without a leading slash, with a query or a fragment. */
  readonly isReachable: boolean;
  readonly segments: readonly PathSegment[];
}

/** A part of a path template between two slashes. */
export interface PathSegment {
  readonly text: string;
  /** The decoded text before, between and after the parameters. */
  readonly texts: readonly string[];
  /** The same in bytes of UTF-8, each of them as one character. */
  readonly bytes: readonly string[];
}

/** Parses a path template. */
export function pathTemplate(text: string): PathTemplate {
  const segments = text.split('/').map(segmentOf);
  return {
    text,
    names: [...text.matchAll(PARAMETER)].map(([, name = '']) => name),
    shape: JSON.stringify(segments.map(({ texts }) => texts)),
    isReachable: /^\/[^?#]*$/.test(text),
    segments,
  };
}

function segmentOf(text: string): PathSegment {
  const texts = text.split(/\{[^{}]*\}/).map(decoded);
  const bytes = texts.map((part) =>
    unitsOf(encodeURIComponent(part.toWellFormed())).map(decodedByte).join(''),
  );
  return { text, texts, bytes };
}

/**
 * Returns the percent-encoded values of the parameters, or `undefined` if the path does not match.
 * The path may begin with any base path.
 */
export function matchPath({ segments }: PathTemplate, path: string): string[] | undefined {
  const pathSegments = path.split('/').slice(1 - segments.length);
  const values = segments
    .slice(1)
    .map((segment, index) => matchSegment(segment, pathSegments[index] ?? ''));
  return values.includes(undefined) ? undefined : values.flatMap((captures) => captures ?? []);
}

/** Returns a path. @param parameterText returns the percent-encoded value of a parameter. */
export const writePath = (
  { text }: PathTemplate,
  parameterText: (name: string) => string,
): string =>
  encodedPath(text).replace(PARAMETER, (_match, name: string) => parameterText(decoded(name)));

/** Returns the percent-encoded values of a segment, or `undefined` if it does not match. */
export function matchSegment({ text, texts, bytes }: PathSegment, raw: string) {
  if (texts.length === 1) return raw === text || decoded(raw) === texts[0] ? [] : undefined;
  const isParameter = texts.length === 2 && texts.join('') === '';
  if (!isParameter) return captured(bytes, raw);
  return raw === '' ? undefined : [raw];
}

/**
 * Matches from right to left, so that the first parameter is the longest. Takes linear time, unlike
 * a regular expression.
 */
function captured(bytes: readonly string[], raw: string): string[] | undefined {
  const [first = '', last = ''] = [bytes[0], bytes.at(-1)];
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

/** Splits a percent-encoded text into characters and encoded bytes. */
const unitsOf = (text: string): readonly string[] => text.match(/%[\da-f]{2}|./gis) ?? [];

const decodedByte = (unit: string): string =>
  unit.length === 3 ? String.fromCharCode(Number.parseInt(unit.slice(1), 16)) : unit;
