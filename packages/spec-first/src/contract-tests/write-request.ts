import type { MediaType, Operation, Parameter } from 'openapi-document';
import { encodeBody, writeParameters } from 'openapi-document/client';
import { shellQuoted } from 'spec-first-server';
import type { Sent } from './client.ts';
import type { Secret } from './credentials.ts';
import { namedIn, type Values } from './parts.ts';

/** The values of a request before serialization, and deviations from the document. */
export interface RequestDraft {
  readonly values: Values;
  /** Selects one of the declared media types of a file. */
  readonly turn?: number;
  /** Replaces the serialized body. */
  readonly raw?: string;
  /** Replaces the declared media type. */
  readonly contentType?: string;
  /** Text that is added to the query. */
  readonly undeclared?: string;
}

/** Serializes a request in the styles of the document. */
export async function writeRequest(
  operation: Operation,
  draft: RequestDraft,
  secrets: readonly Secret[],
): Promise<Sent> {
  const { values, undeclared } = draft;
  const at = (where: Parameter['in']) => namedIn(values, where);
  const input = {
    path: at('path'),
    query: at('query'),
    header: at('header'),
    cookie: at('cookie'),
  };
  const { url, headers } = writeParameters(operation, input);
  const secretsIn = (place: Secret['in']) => secrets.filter((secret) => secret.in === place);
  const pairs = secretsIn('query').map(
    ({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  const addedQuery = [undeclared ?? [], pairs].flat().join('&');
  const cookies = [
    headers.Cookie ?? [],
    secretsIn('cookie').map(({ name, value }) => `${name}=${value}`),
  ].flat();
  const part = [...values.keys()].find(({ media }) => media !== undefined);
  const body = part?.media && (await encodedBody(part.media, values.get(part), draft));
  return {
    method: operation.method.toUpperCase(),
    target: addedQuery === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${addedQuery}`,
    headers: {
      ...headers,
      ...Object.fromEntries(secretsIn('header').map(({ name, value }) => [name, value])),
      ...(cookies.length > 0 && { Cookie: cookies.join('; ') }),
      ...(body && { 'Content-Type': draft.contentType ?? body.contentType }),
    },
    body: body?.bytes,
  };
}

async function encodedBody(media: MediaType, value: unknown, { raw, turn = 0 }: RequestDraft) {
  const type = concreteType(media.type);
  if (media.items !== undefined) {
    const { contentType, write, end } = media.itemWriter(type);
    return { contentType, bytes: Buffer.concat([Buffer.from(write(value, 0)), Buffer.from(end)]) };
  }
  const sent = media.kind === 'multipart' ? formWithFiles(media, value, turn) : value;
  const body = raw ?? encodeBody(type, sent, media.encoding) ?? null;
  const response = new Response(body);
  const contentType =
    body instanceof FormData ? (response.headers.get('Content-Type') ?? type) : type;
  return { contentType, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** Returns a form whose file fields contain files of one of the declared media types. */
function formWithFiles(media: MediaType, form: unknown, turn: number): object {
  const reader = media.formReader();
  const fields = Object.entries(Object(form)).map(([name, value]) => {
    const { isText, types } = reader.partOf(name);
    if (isText) return [name, value];
    // Every second request may get 404 for a random id. Sends each type twice, so one request
    // reaches the handler.
    const type = concreteType(types[Math.floor(turn / 2) % types.length] ?? '*/*');
    const fileOf = (item: unknown) => new File([String(item)], 'file', { type });
    return [name, Array.isArray(value) ? value.map(fileOf) : fileOf(value)];
  });
  return Object.fromEntries(fields);
}

/** The media types to send for ranges. */
const CONCRETE: Readonly<Record<string, string>> = {
  '*/*': 'application/octet-stream',
  'application/*': 'application/octet-stream',
  'image/*': 'image/png',
  'audio/*': 'audio/mpeg',
  'video/*': 'video/mp4',
};

/** Returns a media type in a range: `text/plain` for `text/*`. Returns other types unchanged. */
const concreteType = (range: string): string => CONCRETE[range] ?? range.replace('*', 'plain');

/** Returns a request as a curl command for a POSIX shell. */
export function curlLine(base: string, { method, target, headers, body }: Sent): string {
  const words = [
    'curl',
    '-i',
    // With `-X HEAD`, curl waits for a body.
    ...({ GET: [], HEAD: ['-I'] }[method] ?? ['-X', method]),
    shellQuoted(base + target),
  ];
  for (const [name, value] of Object.entries(headers))
    words.push('-H', shellQuoted(`${name}: ${value}`));
  // `--data-binary` would read a file for a body that begins with `@`.
  if (body !== undefined) words.push('--data-raw', shellQuoted(body.toString()));
  return words.join(' ');
}
