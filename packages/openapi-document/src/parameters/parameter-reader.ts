import type { Json } from '../document/document.ts';
import type { Operation } from '../document/operations.ts';
import { deepPath, ParameterError, queryNames, readParameter, takesAnyName } from './read-value.ts';
import { cookiesOf, pairsOf } from './texts.ts';
import type { Styled } from './write-parameter.ts';

/** What holds the parameters of a request. */
interface ParameterSource {
  /** The path as the client sent it, percent-encoded. */
  readonly path: string;
  /** What follows `?`, percent-encoded. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * Prepares to read an operation's parameters by their `style` and `explode` (OpenAPI 3.1 §4.8.12.2). Texts become
 * numbers and booleans if the schema asks for them; integers are exact. Values are not checked against their schemas.
 *
 * @param ignored names of query parameters that are not the operation's own, such as those of API keys.
 * @returns the values by location and name, and why some cannot be read: a JSON pointer such as `/query/limit`, and a message.
 */
export function parameterReader(root: Json, operation: Operation, ignored: ReadonlySet<string> = new Set()) {
  const { parameters, template } = operation;
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const known = new Set([...ignored, ...inQuery.flatMap((parameter) => queryNames(root, parameter))]);
  const isKnown = (name: string) => known.has(name);
  const isOpen = inQuery.some((parameter) => parameter.style === 'querystring' || takesAnyName(root, parameter));

  return ({ path, query, headers }: ParameterSource) => {
    const values: Record<Styled['in'], Record<string, unknown>> = { path: {}, query: {}, header: {}, cookie: {} };
    const violations: { readonly path: string; readonly message: string; readonly keyword: string }[] = [];
    if (query === '' && parameters.length === 0) return { values, violations };
    const texts = template.names.length > 0 ? template.match(path) : undefined;
    const pairs = { query: pairsOf(query), cookie: cookiesOf(headers.cookie) };
    for (const name of pairs.query.keys()) {
      if (isOpen || isKnown(name) || inQuery.some((parameter) => deepPath(parameter, name))) continue;
      const message = 'is not a parameter of this operation';
      violations.push({ path: `/query/${name}`, message, keyword: 'additionalProperties' });
    }
    for (const parameter of parameters) {
      const { in: where, name } = parameter;
      const header = headers[name.toLowerCase()];
      const text = { path: texts?.[template.names.indexOf(name)], query, cookie: '', header: header?.toString() }[
        where
      ];
      try {
        const value = readParameter(root, parameter, text, where === 'cookie' ? pairs.cookie : pairs.query, isKnown);
        if (value !== undefined) values[where][name] = value;
      } catch (error) {
        violations.push({ path: `/${where}/${name}`, message: reasonOf(error), keyword: 'format' });
      }
    }
    return { values, violations };
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof ParameterError) return error.reason;
  if (error instanceof URIError) return 'must be percent-encoded UTF-8';
  throw error;
}
