import { decoded } from './document.ts';

// Path templates (OpenAPI 3.1 §4.8.8.2), such as `/plants/{id}` and `/plants/{id}.json`.

const PARAMETER = /(\{[^{}]*\})/;
const isParameter = (part: string): boolean => PARAMETER.test(part);

/** The names of a template's parameters, in its order. */
export const parameterNames = (template: string): string[] =>
  [...template.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name);

/** A template without the names of its parameters: templates of the same shape match the same paths. */
export const pathShape = (template: string): string => template.replace(/\{[^{}]*\}/g, '{}');

/** Whether a request can have such a path: it has no query and no fragment. */
export const isReachable = (template: string): boolean => !/[?#]/.test(template);

/** A template with its texts percent-encoded (RFC 3986 §3.3), for a URL. */
export const encodedTemplate = (template: string): string =>
  template.replace(/[^\w{}!$&'()*+,;=:@%./~-]+/g, encodeURIComponent);

/**
 * A template in the syntax of `find-my-way`. Parameters get names that the library accepts. Texts beside them stand
 * outside of regular expressions, by which the library does not tell `{id}:stop` and `{id}:start` apart.
 */
export function routerPath(template: string): string {
  let count = 0;
  const parameter = (pattern = '') => `:p${count++}${pattern}`;
  return template
    .split('/')
    .map((segment) => {
      const parts = segment.split(PARAMETER).filter((part) => part !== '');
      if (parts.length === 1 && isParameter(segment)) return parameter();
      // An asterisk would be a wildcard.
      const text = (part: string) => part.replaceAll(':', '::').replaceAll('*', () => parameter('(\\*)'));
      return parts.map((part) => (isParameter(part) ? parameter('([^]+)') : text(decoded(part)))).join('');
    })
    .join('/');
}

/** Matches a path that the router found for a template. The groups are the texts of the parameters, percent-encoded. */
export function pathPattern(template: string): RegExp {
  const segments = template.split('/').map((segment) => {
    if (!isParameter(segment)) return '[^/]*';
    return segment
      .split(PARAMETER)
      .map((part) => (isParameter(part) ? '([^/]+)' : [...decoded(part)].map(rawOrEncoded).join('')))
      .join('');
  });
  return new RegExp(`${segments.join('/')}$`, 'i');
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

function rawOrEncoded(character: string): string {
  const encoded = [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  return `(?:${escaped(character)}|${encoded})`;
}
