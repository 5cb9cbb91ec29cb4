import { type Operation, type Parameter, writeParameter } from 'openapi-document';
import type { Secret } from './credentials.ts';
import type { Sent, Values } from './values.ts';
import { writeBody } from './write-body.ts';

/** Writes a request's values in the styles of the document. */
export function writeRequest(operation: Operation, values: Values, secrets: readonly Secret[]): Sent {
  const { method, parameters } = operation;
  const at = (where: Parameter['in']) =>
    parameters
      .filter(({ in: place }) => place === where)
      .flatMap((parameter): [Parameter, unknown][] => {
        const value = values[where][parameter.name];
        return value === undefined ? [] : [[parameter, value]];
      });
  const declared = new Set(parameters.filter(({ in: where }) => where === 'query').map(({ name }) => name));
  const secret = (where: Secret['in']) => secrets.filter(({ in: place }) => place === where);

  const inPath = new Map(at('path').map(([parameter, value]) => [parameter.name, writeParameter(parameter, value)]));
  const path = operation.template.write((name) => inPath.get(name) ?? `{${name}}`);
  const query = [
    ...at('query').map(([parameter, value]) => writeParameter(parameter, value)),
    ...Object.entries(values.query).flatMap(([name, value]) => (declared.has(name) ? [] : [`${name}=${value}`])),
    ...secret('query').map(({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`),
  ].filter((text) => text !== '');
  const cookies = [
    ...at('cookie').map(([parameter, value]) => writeParameter(parameter, value)),
    ...secret('cookie').map(({ name, value }) => `${name}=${value}`),
  ];
  const headers = [
    ...at('header').map(([parameter, value]) => [parameter.name, writeParameter(parameter, value)]),
    ...secret('header').map(({ name, value }) => [name, value]),
    ...(cookies.length > 0 ? [['Cookie', cookies.join('; ')]] : []),
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
