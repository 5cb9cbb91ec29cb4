import { writeParameter } from '../parameters/forms.ts';
import { pairsOf } from '../parameters/texts.ts';
import { attempt as attemptFor, nameOwners, type Styled } from '../parameters/write-value.ts';
import { matchPath, pathTemplate, writePath } from '../source/path-template.ts';
import type { Route } from './routes.ts';

/** The values of parameters, by location and name. */
export type ParameterInput = Partial<Record<Styled['in'], Readonly<Record<string, unknown>>>>;

/** Match the texts of parameters that are sent unchanged. */
const SENDABLE: Readonly<Record<Styled['in'], RegExp>> = {
  // URL parsers remove the segments `.` and `..`, so the request would have another path.
  path: /^(?!\.{0,2}$)/,
  query: /^/,
  // RFC 9110 §5.5
  header: /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/,
  // RFC 6265 §4.2.1. Spaces and commas are common in values.
  cookie: /^(?! )[\x20-\x3a\x3c-\x7e]+(?<! )$/,
};

/**
 * Serializes the parameters of a call. Leaves out `null`, and an empty array or object if its style
 * has no text for it (RFC 6570 §2.3).
 *
 * @returns the path with the query, and the headers.
 * @throws {TypeError} for a value that cannot be sent.
 */
export function writeParameters(
  { path, parameters }: Pick<Route, 'path' | 'parameters'>,
  input: ParameterInput,
) {
  const template = pathTemplate(path);
  const sent = parameters.flatMap((parameter) => {
    const values = input[parameter.in] ?? {};
    const value = Object.hasOwn(values, parameter.name) ? values[parameter.name] : undefined;
    const text = attempt(parameter, () => textOf(parameter, value));
    return text === undefined ? [] : [{ parameter, text }];
  });
  const sentIn = (place: Styled['in']) => sent.filter(({ parameter }) => parameter.in === place);
  const textsIn = (place: Styled['in']) =>
    new Map(sentIn(place).map(({ parameter, text }) => [parameter.name, text]));
  const joined = (place: Styled['in'], separator: string) =>
    [...textsIn(place).values()].filter((text) => text !== '').join(separator);
  const pathTexts = textsIn('path');
  const writtenPath = writePath(template, (name) => pathTexts.get(name) ?? `{${name}}`);
  const captures = matchPath(template, writtenPath) ?? [];
  for (const { parameter, text } of sentIn('path'))
    attempt(parameter, () => {
      if (captures[template.names.indexOf(parameter.name)] !== text)
        throw new TypeError('its end would be part of another parameter');
    });
  const inQuery = parameters.filter(({ in: where }) => where === 'query');
  const claim = nameOwners(inQuery.map(({ name }) => name));
  for (const { parameter, text } of sentIn('query'))
    for (const name of pairsOf(text).keys()) attempt(parameter, () => claim(parameter.name, name));
  const query = joined('query', '&');
  const cookies = joined('cookie', '; ');
  const headers: Record<string, string> = Object.fromEntries(textsIn('header'));
  if (cookies !== '') headers.Cookie = cookies;
  return { url: query === '' ? writtenPath : `${writtenPath}?${query}`, headers };
}

/** Returns `undefined` if the parameter is left out. @throws {TypeError} */
function textOf(parameter: Route['parameters'][number], value: unknown): string | undefined {
  const { in: where, json, mustBeSent = false } = parameter;
  const canBeLeftOut = where !== 'path' && !mustBeSent;
  if (value === undefined || (value === null && !json && canBeLeftOut)) return undefined;
  const text = writeParameter(parameter, value);
  const isMissing = text === '' && (where === 'query' || where === 'cookie');
  if (isMissing && canBeLeftOut) return undefined;
  if (isMissing || (value === null && !json))
    throw new TypeError('it has no text, but must be sent');
  if (SENDABLE[where].test(text)) return text;
  throw new TypeError(
    where === 'path'
      ? 'a path cannot have the segments "", "." and ".."'
      : `a ${where} cannot contain its characters`,
  );
}

const attempt = <Result>({ in: where, name, style }: Styled, write: () => Result): Result =>
  attemptFor(`the ${where} parameter ${name} (style ${style})`, write);
