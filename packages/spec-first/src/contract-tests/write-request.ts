import { type Codecs, formReader, type MediaType, type Parameter } from 'openapi-document';
import { encodeBody, writeParameters } from 'openapi-document/client';
import { shellQuoted } from 'spec-first-server/cli';
import type { CheckedOperation } from './check-response.ts';
import type { SerializedRequest } from './client.ts';
import type { Secret } from './credentials.ts';
import { type RequestValues, valuesByName } from './request-parts.ts';

/** The values of a request before serialization, and its deviations from the document. */
export interface RequestDraft {
  readonly values: RequestValues;
  /** Selects one of the declared media types of a file. */
  readonly index?: number;
  /** Replaces the serialized body. */
  readonly rawBody?: string;
  /** Replaces the declared media type. */
  readonly contentType?: string;
  /** Text that is added to the query. */
  readonly undeclaredQuery?: string;
}

/** Serializes a request and its credentials. */
export async function writeRequest(
  { operation, validator: { codecs } }: Pick<CheckedOperation, 'operation' | 'validator'>,
  draft: RequestDraft,
  secrets: readonly Secret[],
): Promise<SerializedRequest> {
  const { values, undeclaredQuery } = draft;
  const valuesIn = (where: Parameter['in']) => valuesByName(values, where);
  const input = {
    path: valuesIn('path'),
    query: valuesIn('query'),
    header: valuesIn('header'),
    cookie: valuesIn('cookie'),
  };
  // Sends `null` as an empty text, to test that the service validates it.
  const parameters = operation.parameters.map((each) => ({ ...each, mustBeSent: true }));
  const { url, headers } = writeParameters({ path: operation.path, parameters }, input);
  const secretsIn = (place: Secret['in']) => secrets.filter((secret) => secret.in === place);
  const secretPairs = secretsIn('query').map(
    ({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  const addedQuery = [undeclaredQuery ?? [], secretPairs].flat().join('&');
  const cookies = [
    headers.Cookie ?? [],
    secretsIn('cookie').map(({ name, value }) => `${name}=${value}`),
  ].flat();
  const part = [...values.keys()].find(({ media }) => media !== undefined);
  const body = part?.media && (await encodedBody(codecs, part.media, values.get(part), draft));
  return {
    method: operation.method.toUpperCase(),
    url: addedQuery === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${addedQuery}`,
    headers: {
      ...headers,
      ...Object.fromEntries(secretsIn('header').map(({ name, value }) => [name, value])),
      ...(cookies.length > 0 && { Cookie: cookies.join('; ') }),
      ...(body && { 'Content-Type': draft.contentType ?? body.contentType }),
    },
    body: body?.bytes,
  };
}

async function encodedBody(
  codecs: Codecs,
  media: MediaType,
  value: unknown,
  { rawBody, index = 0 }: RequestDraft,
) {
  const type = concreteType(media.type);
  const { unit, hasBytes } = codecs.factsOf(media);
  const form = unit === 'form' && hasBytes ? formWithFiles(media, value, index) : value;
  const writable = unit === 'items' ? one(value) : form;
  const { contentType, body } = await encodeBody(codecs, { ...media, type }, writable);
  const bytes = await new Response(rawBody ?? body).arrayBuffer();
  return { contentType, bytes: Buffer.from(bytes) };
}

async function* one(item: unknown): AsyncGenerator<unknown> {
  yield item;
}

function formWithFiles(media: MediaType, form: unknown, requestIndex: number): object {
  const reader = formReader(media);
  const fields = Object.entries(Object(form)).map(([name, value]) => {
    const { isText, types } = reader.partOf(name);
    if (isText) return [name, value];
    // Every second request has a random id and may get 404. Each type is sent in two successive
    // requests, so that one of them has an existing id.
    const type = concreteType(types[Math.floor(requestIndex / 2) % types.length] ?? '*/*');
    const fileOf = (item: unknown) => new File([String(item)], 'file', { type });
    return [name, Array.isArray(value) ? value.map(fileOf) : fileOf(value)];
  });
  return Object.fromEntries(fields);
}

/** The media types that are sent for ranges. */
const CONCRETE: Readonly<Record<string, string>> = {
  '*/*': 'application/octet-stream',
  'application/*': 'application/octet-stream',
  'image/*': 'image/png',
  'audio/*': 'audio/mpeg',
  'video/*': 'video/mp4',
};

const concreteType = (range: string): string => CONCRETE[range] ?? range.replace('*', 'plain');

/** Returns a request as a curl command for a POSIX shell. */
export function curlLine(base: string, { method, url, headers, body }: SerializedRequest): string {
  const words = [
    'curl',
    '-i',
    // With `-X HEAD`, curl waits for a body.
    ...({ GET: [], HEAD: ['-I'] }[method] ?? ['-X', method]),
    shellQuoted(base + url),
  ];
  for (const [name, value] of Object.entries(headers))
    words.push('-H', shellQuoted(`${name}: ${value}`));
  // `--data-binary` would read a file for a body that begins with `@`.
  if (body !== undefined) words.push('--data-raw', shellQuoted(body.toString()));
  return words.join(' ');
}
