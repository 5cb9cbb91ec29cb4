import type { Json } from '../document/document.ts';
import type { Operation, Parameter } from '../document/operations.ts';
import {
  fromCookies,
  fromPairs,
  fromText,
  fromWholeQuery,
  isDeep,
  ParameterError,
  queryNames,
  readParameter,
  takesAnyName,
} from './read-value.ts';
import { cookiesOf, type Pairs, pairsOf } from './texts.ts';

/** What holds the parameters of a request. */
export interface ParameterSource {
  /** The path as the client sent it, percent-encoded. */
  readonly path: string;
  /** What follows `?`, percent-encoded. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The values of an operation's parameters by location and name, and why some cannot be read. */
export interface ReadParameters {
  readonly values: { readonly [Location in Parameter['in']]: Record<string, unknown> };
  /** A JSON pointer such as `/query/limit`, and a message. */
  readonly violations: { readonly path: string; readonly message: string; readonly keyword: string }[];
}

/**
 * Prepares to read an operation's parameters by their `style` and `explode` (OpenAPI 3.1 §4.8.12.2). Texts become
 * numbers and booleans if the schema asks for them; integers are exact. Values are not checked against their schemas.
 *
 * @param ignored names of query parameters that are not the operation's own, such as those of API keys.
 */
export function parameterReader(root: Json, operation: Operation, ignored: ReadonlySet<string> = new Set()) {
  const at = (where: Parameter['in']) => operation.parameters.filter((parameter) => parameter.in === where);
  const [inPath, inQuery, inHeader, inCookie] = [at('path'), at('query'), at('header'), at('cookie')];
  const { names, match } = operation.template;
  const known = new Set([...ignored, ...inQuery.flatMap((parameter) => queryNames(root, parameter))]);
  const isKnown = (name: string) => known.has(name);
  const whole = inQuery.find(({ style }) => style === 'querystring');
  const isOpen = whole !== undefined || inQuery.some((parameter) => takesAnyName(root, parameter));

  return ({ path, query, headers }: ParameterSource): ReadParameters => {
    const read: ReadParameters = { values: { path: {}, query: {}, header: {}, cookie: {} }, violations: [] };
    if (query === '' && operation.parameters.length === 0) return read;
    const take = (parameter: Parameter, readValue: () => unknown) => {
      try {
        const value = readValue();
        if (value !== undefined) read.values[parameter.in][parameter.name] = value;
      } catch (error) {
        const path = `/${parameter.in}/${parameter.name}`;
        read.violations.push({ path, message: reasonOf(error), keyword: 'format' });
      }
    };
    const texts = inPath.length > 0 ? match(path) : undefined;
    for (const parameter of inPath) {
      take(parameter, () => fromText(root, parameter, texts?.[names.indexOf(parameter.name)], decodeURIComponent));
    }
    const pairs = pairsOf(query);
    for (const name of pairs.keys()) {
      if (isOpen || isKnown(name) || inQuery.some((parameter) => isDeep(parameter, name))) continue;
      const message = 'is not a parameter of this operation';
      read.violations.push({ path: `/query/${name}`, message, keyword: 'additionalProperties' });
    }
    for (const parameter of pairs.size > 0 ? inQuery : []) {
      if (parameter === whole) take(whole, () => fromWholeQuery(root, whole, query));
      else take(parameter, () => fromPairs(root, parameter, pairs, isKnown, decodeURIComponent));
    }
    for (const parameter of inHeader) {
      const text = headers[parameter.name.toLowerCase()];
      if (text !== undefined) take(parameter, () => readParameter(root, parameter, [text].flat().join(', ')));
    }
    const cookies = inCookie.length > 0 ? cookiesOf(headers.cookie) : NO_PAIRS;
    for (const parameter of inCookie) take(parameter, () => fromCookies(root, parameter, cookies));
    return read;
  };
}

const NO_PAIRS: Pairs = new Map();

/** What is wrong with a parameter's text. @throws any other error */
function reasonOf(error: unknown): string {
  if (error instanceof ParameterError) return error.message;
  if (error instanceof URIError) return 'must be percent-encoded UTF-8';
  throw error;
}
