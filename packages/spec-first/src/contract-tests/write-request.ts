import { type Operation, type Parameter, writeParameter } from 'openapi-document';
import type { Secret } from './credentials.ts';
import type { Sent, Values } from './values.ts';
import { writeBody } from './write-body.ts';

/** Writes a request's values in the styles of the document. */
export function writeRequest(operation: Operation, values: Values, secrets: readonly Secret[]): Sent {
  const { method, parameters } = operation;
  const at = (where: Parameter['in']) =>
    parameters
      .filter(({ in: place, name }) => place === where && values[where][name] !== undefined)
      .map((parameter) => [parameter.name, writeParameter(parameter, values[where][parameter.name])] as const);
  const secret = (where: Secret['in']) => secrets.filter(({ in: place }) => place === where);
  const inPath = new Map(at('path'));
  const path = operation.template.write((name) => inPath.get(name) ?? `{${name}}`);
  const declared = new Set(parameters.filter(({ in: where }) => where === 'query').map(({ name }) => name));
  const query = [
    ...at('query').map(([, text]) => text),
    ...Object.entries(values.query).flatMap(([name, value]) => (declared.has(name) ? [] : [`${name}=${value}`])),
    ...secret('query').map(({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`),
  ].filter((text) => text !== '');
  const cookies = [
    ...at('cookie').map(([, text]) => text),
    ...secret('cookie').map(({ name, value }) => `${name}=${value}`),
  ];
  const headers = [
    ...at('header'),
    ...secret('header').map(({ name, value }) => [name, value] as const),
    ...(cookies.length > 0 ? [['Cookie', cookies.join('; ')] as const] : []),
  ];
  const written = values.body && writeBody(values.body);
  return {
    method: method.toUpperCase(),
    target: query.length > 0 ? `${path}?${query.join('&')}` : path,
    headers: {
      ...Object.fromEntries(headers),
      ...(written && { 'Content-Type': values.body?.contentType ?? written.contentType }),
    },
    body: written?.bytes,
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
