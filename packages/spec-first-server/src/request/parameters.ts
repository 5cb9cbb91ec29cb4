import type { Json, Operation, Parameter } from 'openapi-document';
import {
  cookiesOf,
  fromQuery,
  fromText,
  isDeep,
  MAX_DEPTH,
  NestsTooDeep,
  pairsOf,
  parameterNames,
  pathPattern,
  queryNames,
  takesAnyName,
} from 'openapi-document';
import { HttpError } from '../response/http-error.ts';
import type { Parameters } from '../validation/validator.ts';
import type { Violation } from '../validation/violations.ts';

/** The parts of a request that hold parameters. */
interface Source {
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
 * @param credentials names of query parameters that carry API keys; ignored here.
 */
export function parameterReader(root: Json, operation: Operation, credentials: ReadonlySet<string>) {
  const at = (where: Parameter['in']) => operation.parameters.filter((parameter) => parameter.in === where);
  const [inPath, inQuery, inHeader, inCookie] = [at('path'), at('query'), at('header'), at('cookie')];
  const template = pathPattern(operation.path);
  const names = parameterNames(operation.path);
  const known = new Set([...credentials, ...inQuery.flatMap((parameter) => queryNames(root, parameter))]);
  const open = inQuery.some((parameter) => takesAnyName(root, parameter));

  /** @throws {HttpError} 400 */
  return ({ path, query, headers }: Source): Parameters => {
    const parameters: Parameters = { path: {}, query: {}, header: {}, cookie: {} };
    if (query === '' && operation.parameters.length === 0) return parameters;
    const violations: Violation[] = [];
    const read = (parameter: Parameter, take: () => unknown) => {
      try {
        const value = take();
        if (value !== undefined) parameters[parameter.in][parameter.name] = value;
      } catch (error) {
        violations.push({ path: `/${parameter.in}/${parameter.name}`, message: reasonOf(error) });
      }
    };
    const texts = inPath.length > 0 ? (template.exec(path) ?? []) : [];
    for (const parameter of inPath) {
      const text = texts[names.indexOf(parameter.name) + 1];
      read(parameter, () => fromText(root, parameter, text, decodeURIComponent));
    }
    const pairs = pairsOf(query);
    for (const name of pairs.keys()) {
      if (open || known.has(name) || inQuery.some((parameter) => isDeep(parameter, name))) continue;
      violations.push({ path: `/query/${name}`, message: 'is not a parameter of this operation' });
    }
    for (const parameter of pairs.size > 0 ? inQuery : []) {
      read(parameter, () => fromQuery(root, parameter, pairs, (name) => known.has(name)));
    }
    for (const parameter of inHeader) {
      const text = headers[parameter.name.toLowerCase()];
      read(parameter, () => fromText(root, parameter, text && [text].flat().join(', '), (part) => part.trim()));
    }
    const cookies = inCookie.length > 0 ? cookiesOf(headers.cookie) : undefined;
    for (const parameter of inCookie) {
      read(parameter, () => fromText(root, parameter, cookies?.get(parameter.name), decodeURIComponent));
    }
    if (violations.length > 0) throw HttpError.violations(violations);
    return parameters;
  };
}

/** The violation that an error of a parameter's text is. @throws any other error */
function reasonOf(error: unknown): string {
  if (error instanceof NestsTooDeep) return `must be nested at most ${MAX_DEPTH} levels deep`;
  if (error instanceof URIError) return 'must be percent-encoded UTF-8';
  throw error;
}
