import { UNLIMITED } from '../schema/budget.ts';
import { createFormats } from '../schema/formats.ts';
import type { Operation } from './operations.ts';

/** The extensions of deprecated operations, with the headers that they set. */
const HEADERS: Readonly<Record<string, readonly [name: string, textOf: (date: Date) => string]>> = {
  // RFC 9745 §2.1: a Date of Structured Fields.
  'x-deprecated-at': ['Deprecation', (date) => `@${Math.floor(date.getTime() / 1000)}`],
  // RFC 8594 §3: an HTTP-date.
  'x-sunset': ['Sunset', (date) => date.toUTCString()],
};

/**
 * Returns the headers of responses to a deprecated operation, and the violations of its extensions,
 * by their names.
 */
export function deprecationOf({ source }: Pick<Operation, 'source'>) {
  const headers: Record<string, string> = {};
  const violations: Record<string, string> = {};
  for (const [extension, [name, textOf]] of Object.entries(HEADERS)) {
    const { [extension]: text } = source;
    if (text === undefined) continue;
    const date = dateOf(text);
    if (date === undefined)
      violations[extension] =
        'must be a date such as 2027-01-31, or a date and time such as 2027-01-31T12:00:00Z';
    else if (source.deprecated !== true) violations[extension] = 'needs deprecated: true';
    else headers[name] = textOf(date);
  }
  return { headers, violations };
}

const formatOf = createFormats();

function dateOf(text: unknown): Date | undefined {
  const formats = [formatOf('date'), formatOf('date-time')];
  const isDate = formats.some((format) => format?.test(String(text), UNLIMITED));
  const date = new Date(String(text));
  return isDate && !Number.isNaN(date.getTime()) ? date : undefined;
}
