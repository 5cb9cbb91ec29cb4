import { type MediaType, type Operation, type Parameter, stringifyJson } from 'openapi-document';
import { bodyOf, targetOf } from 'openapi-document/client';
import type { Sent } from './client.ts';
import type { Secret } from './credentials.ts';
import { namedIn, type Values } from './parts.ts';

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
export async function writeRequest(operation: Operation, made: Written, secrets: readonly Secret[]): Promise<Sent> {
  const { values, undeclared } = made;
  const at = (where: Parameter['in']) => namedIn(values, where);
  const input = { path: at('path'), query: at('query'), header: at('header'), cookie: at('cookie') };
  const { url, headers } = targetOf(operation, input);
  const given = (at: Secret['in']) => secrets.filter((secret) => secret.in === at);
  const pairs = given('query').map(({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  const more = [undeclared ?? [], pairs].flat().join('&');
  const cookies = [headers.Cookie ?? [], given('cookie').map(({ name, value }) => `${name}=${value}`)].flat();
  const [part] = [...values.keys()].filter(({ media }) => media !== undefined);
  const body = part?.media && (await writeBody(part.media, values.get(part), made));
  return {
    method: operation.method.toUpperCase(),
    target: more === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${more}`,
    headers: {
      ...headers,
      ...Object.fromEntries(given('header').map(({ name, value }) => [name, value])),
      ...(cookies.length > 0 && { Cookie: cookies.join('; ') }),
      ...(body && { 'Content-Type': made.contentType ?? body.contentType }),
    },
    body: body?.bytes,
  };
}

async function writeBody(media: MediaType, value: unknown, { raw }: Written) {
  // A media type that a range admits.
  const type = media.type.replace(/^(\*|application)\/\*$/, 'application/octet-stream').replace(/\/\*$/, '/plain');
  if (raw === undefined && media.items !== undefined) {
    const { contentType, write, end } = media.itemWriter(type);
    return { contentType, bytes: Buffer.concat([Buffer.from(write(value, 0)), Buffer.from(end)]) };
  }
  const isText = media.kind !== 'json' && typeof value === 'string';
  const isForm = media.kind === 'form' || media.kind === 'multipart';
  const body = raw ?? (isForm || isText ? bodyOf(type, value) : stringifyJson(value));
  const written = new Response(body ?? null);
  const contentType = body instanceof FormData ? (written.headers.get('Content-Type') ?? type) : type;
  return { contentType, bytes: Buffer.from(await written.arrayBuffer()) };
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
