import { type Operation, type Parameter, writeParameter } from 'openapi-document';
import type { Secret } from './credentials.ts';
import type { Sent, Values } from './values.ts';
import { writeBody } from './write-body.ts';

/** What a request consists of. */
export interface Written {
  readonly values: Values;
  /** The text that is sent instead of the body. */
  readonly raw?: string;
  /** The media type that is sent instead of the declared one. */
  readonly contentType?: string;
  /** What is added to the query. */
  readonly undeclared?: string;
}

/** Writes a request's values in the styles of the document. */
export function writeRequest(operation: Operation, request: Written, secrets: readonly Secret[]): Sent {
  const { values, raw, contentType, undeclared } = request;
  const texts = [...values].flatMap(([{ in: where, name, parameter }, value]) =>
    parameter === undefined ? [] : [{ in: where, name, text: writeParameter(parameter, value) }],
  );
  const at = (where: Parameter['in']) => texts.filter((part) => part.in === where);
  const secret = (where: Secret['in']) => secrets.filter((part) => part.in === where);
  const pairs = (where: Secret['in'], encode: (text: string) => string, more: readonly string[] = []) =>
    [
      ...at(where).map(({ text }) => text),
      ...more,
      ...secret(where).map(({ name, value }) => `${encode(name)}=${encode(value)}`),
    ].filter((text) => text !== '');
  const inPath = new Map(at('path').map(({ name, text }) => [name, text]));
  const path = operation.template.write((name) => inPath.get(name) ?? `{${name}}`);
  const query = pairs('query', encodeURIComponent, undeclared === undefined ? [] : [undeclared]).join('&');
  const cookies = pairs('cookie', String).join('; ');
  const [[part, value] = []] = [...values].filter(([{ media }]) => media !== undefined);
  const body = part?.media && writeBody(part.media, value, raw);
  return {
    method: operation.method.toUpperCase(),
    target: query === '' ? path : `${path}?${query}`,
    headers: {
      ...Object.fromEntries(at('header').map(({ name, text }) => [name, text])),
      ...Object.fromEntries(secret('header').map((header) => [header.name, header.value])),
      ...(cookies !== '' && { Cookie: cookies }),
      ...(body && { 'Content-Type': contentType ?? body.contentType }),
    },
    body: body?.bytes,
  };
}

/** A request as a command for a POSIX shell. */
export function curlLine(base: string, { method, target, headers, body }: Sent): string {
  const words = ['curl', '-i', ...(method === 'GET' ? [] : ['-X', method]), quoted(base + target)];
  for (const [name, value] of Object.entries(headers)) words.push('-H', quoted(`${name}: ${value}`));
  if (body !== undefined) words.push('--data-binary', quoted(body.toString()));
  return words.join(' ');
}

/** Quotes an argument (Shell Command Language §2.2.2). */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
