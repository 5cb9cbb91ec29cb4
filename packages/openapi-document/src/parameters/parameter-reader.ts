import { type Budget, BudgetExceeded } from '../schema/budget.ts';
import { escapePointerToken } from '../source/document.ts';
import { matchPath, type PathTemplate } from '../source/path-template.ts';
import { parameterValueReader } from './forms.ts';
import { nameOwnership, ParameterError, type Readable } from './read-value.ts';
import { cookiesOf, pairsOf } from './texts.ts';
import type { Styled } from './write-value.ts';

/** The parts of a request that hold parameters. */
interface ParameterSource {
  /** The path of the request, percent-encoded. */
  readonly path: string;
  /** The part after `?`, percent-encoded. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The parts of an operation that parameters are read with. */
interface ParameterOperation {
  readonly parameters: readonly Readable[];
  readonly template: PathTemplate;
}

/**
 * Prepares to parse an operation's parameters by `style` and `explode` (OpenAPI 3.1 §4.8.12.2).
 * Strings become numbers and booleans if their schemas have these types. Values are not validated.
 *
 * @param ignored names of query parameters that are not part of the operation, such as API keys.
 * @returns a function that returns the values by location and name. Its budget pays for the
 *   patterns of names. It also returns a violation for each parameter that cannot be parsed and for
 *   each undeclared name in the query, with a path such as `/query/limit`.
 */
export function parameterReader(
  { parameters, template }: ParameterOperation,
  ignored: ReadonlySet<string> = new Set(),
) {
  const readers = parameters.map(parameterValueReader);
  const inQuery = readers.filter((reader) => reader.in === 'query');
  const ownersOf = nameOwnership(inQuery, ignored);
  const hasWholeQuery = parameters.some(({ style }) => style === 'querystring');

  return ({ path, query, headers }: ParameterSource, budget?: Budget) => {
    const values: Record<Styled['in'], Record<string, unknown>> = {
      path: {},
      query: {},
      header: {},
      cookie: {},
    };
    const violations: {
      readonly path: string;
      readonly message: string;
      readonly keyword: string;
    }[] = [];
    if (query === '' && parameters.length === 0) return { values, violations };
    const texts = template.names.length > 0 ? matchPath(template, path) : undefined;
    const pairs = { query: pairsOf(query), cookie: cookiesOf(headers.cookie) };
    const queryText = hasWholeQuery && ignored.size > 0 ? withoutNames(query, ignored) : query;
    for (const name of pairs.query.keys()) {
      if (hasWholeQuery || ignored.has(name) || ownersOf(name).length > 0) continue;
      const message = 'is not a parameter of this operation';
      violations.push({
        path: `/query/${escapePointerToken(name)}`,
        message,
        keyword: 'additionalProperties',
      });
    }
    for (const reader of readers) {
      const { in: where, name } = reader;
      const key = name.toLowerCase();
      // A header may have the name of a property of every object, such as `constructor`.
      const header = Object.hasOwn(headers, key) ? headers[key] : undefined;
      const text = {
        path: texts?.[template.names.indexOf(name)],
        query: queryText,
        cookie: undefined,
        header: header?.toString(),
      }[where];
      try {
        const named = where === 'cookie' ? pairs.cookie : pairs.query;
        const value = reader.read(text, named, (other) => ownersOf(other).includes(reader), budget);
        if (value !== undefined) values[where][name] = value;
      } catch (error) {
        violations.push({
          path: `/${where}/${escapePointerToken(name)}`,
          message: parseFailure(error),
          keyword: 'format',
        });
      }
    }
    return { values, violations };
  };
}

const withoutNames = (query: string, names: ReadonlySet<string>): string =>
  query
    .split('&')
    .filter((pair) => names.isDisjointFrom(pairsOf(pair)))
    .join('&');

function parseFailure(error: unknown): string {
  if (error instanceof ParameterError) return error.reason;
  if (error instanceof URIError) return 'must be percent-encoded UTF-8';
  if (error instanceof BudgetExceeded) return error.message;
  throw error;
}
