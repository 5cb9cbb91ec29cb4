import { isUtf8 } from 'node:buffer';
import { type Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Request, Response } from 'express';
import { type Json, objectAt } from '../document/document.ts';
import { isFile, type MediaType, mediaTypeFor, parametersOfType } from '../document/media-types.ts';
import type { Operation } from '../document/operations.ts';
import { itemSchemas, propertySchemas, typesOf } from '../document/schema.ts';
import { MAX_DEPTH, nestsTooDeep, parseJson } from '../json/exact.ts';
import { HttpError } from '../response/http-error.ts';
import { jsonOr, pairsOf, typed } from './parameters.ts';

/** What came with a request: the declared media type that it has, and its value. */
export interface ReadBody {
  readonly media: MediaType | undefined;
  readonly body: unknown;
}

/** Reads the body of a request to one operation. @throws {HttpError} 400, 413 or 415 */
export type BodyReader = (request: Request, response: Response) => Promise<ReadBody>;

const NONE: ReadBody = { media: undefined, body: undefined };

/**
 * Prepares to read an operation's bodies. JSON becomes values with exact integers, text a string (or the number or boolean
 * that its schema asks for), a form an object, `multipart/form-data` an object with a `File` for each file, anything else a
 * stream.
 *
 * @param limit the most bytes of a body, also after decompression.
 */
export function bodyReader(root: Json, { requestBody }: Operation, limit: number): BodyReader {
  const media = requestBody?.media ?? [];

  const absent = (): ReadBody => {
    if (requestBody?.required !== true) return NONE;
    throw HttpError.violations([{ path: '/body', message: `is required, as ${orList(media)}` }]);
  };

  return async (request, response) => {
    if (!hasBody(request) || requestBody === undefined) return absent();
    const declared = declaredType(request.headers['content-type'], media);
    proveFraming(request, declared, limit);
    // From HTTP/1.0, an expectation must be ignored (RFC 9110 §10.1.1).
    if (request.headers.expect !== undefined && request.httpVersion !== '1.0') response.writeContinue();
    if (declared.kind === 'stream') return { media: declared, body: limited(request, response, limit) };

    const bytes = await readBytes(request, limit);
    if (bytes.length === 0 && declared.kind === 'json') return absent();
    if (declared.kind === 'multipart')
      return { media: declared, body: await multipart(root, declared, request, bytes) };
    if (!isUtf8(bytes)) throw new HttpError(400, 'the body must be UTF-8');
    const text = bytes.toString();
    if (declared.kind === 'text') return { media: declared, body: typed(root, declared.schema, text) };
    return { media: declared, body: declared.kind === 'json' ? json(text) : form(root, declared.schema, text) };
  };
}

/** RFC 9112 §6: a body is there when a length or a transfer coding says so. */
const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** Of zstd, a few bytes can ask for a window of 128 MiB. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

const codingOf = ({ headers }: Request): string => headers['content-encoding']?.toLowerCase() ?? 'identity';

/** Refuses what the headers alone tell, before the body is waited for. */
function proveFraming(request: Request, { kind }: MediaType, limit: number): void {
  const accepted = kind === 'stream' ? ['identity'] : [...DECODERS.keys(), 'identity'];
  if (!accepted.includes(codingOf(request))) {
    throw new HttpError(415, `the content encoding must be ${accepted.join(' or ')}`, {
      headers: { 'Accept-Encoding': accepted.join(', ') },
    });
  }
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

const orList = (media: readonly MediaType[]): string => media.map(({ type }) => type).join(' or ') || 'declared';

/** The declared media type for what a client says it sends. @throws {HttpError} 415 */
function declaredType(contentType: string | undefined, media: readonly MediaType[]): MediaType {
  const found = mediaTypeFor(media, contentType ?? '');
  if (found === undefined) {
    throw new HttpError(415, `the body must be ${orList(media)}`, {
      headers: { Accept: media.map(({ type }) => type).join(', ') },
    });
  }
  const charset = contentType?.includes(';') ? parametersOfType(contentType).get('charset') : undefined;
  if (charset !== undefined && found.kind !== 'stream' && !['utf-8', 'utf8', 'us-ascii'].includes(charset)) {
    throw new HttpError(415, 'the charset of the body must be utf-8');
  }
  return found;
}

function json(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    const what = nestsTooDeep(text) ? `JSON nested at most ${MAX_DEPTH} levels deep` : 'JSON';
    throw new HttpError(400, `the body must be ${what}`);
  }
}

function form(root: Json, schema: unknown, text: string): unknown {
  try {
    const fields = [...pairsOf(text)].map(([name, values]) => [name, values.map(decodeURIComponent)] as const);
    return Object.fromEntries(fields.map(([name, values]) => [name, field(root, schema, name, values)]));
  } catch (error) {
    if (error instanceof URIError) throw new HttpError(400, 'the body must be percent-encoded UTF-8');
    throw error;
  }
}

async function multipart(root: Json, media: MediaType, request: Request, bytes: Buffer): Promise<unknown> {
  let data: FormData;
  try {
    const headers = { 'content-type': request.headers['content-type'] ?? '' };
    data = await new globalThis.Response(new Uint8Array(bytes), { headers }).formData();
  } catch {
    throw new HttpError(
      400,
      'the body must be multipart/form-data (RFC 7578) with the boundary that Content-Type names',
    );
  }
  const encoding = objectAt(media.source.encoding);
  const fields = [...new Set(data.keys())].map(async (name) => {
    const { contentType } = objectAt(encoding[name]);
    const schemas = propertySchemas(root, media.schema, name);
    const items = schemas.flatMap((schema) => [schema, ...itemSchemas(root, schema, 0)]);
    const isFileField = items.some((schema) => isFile(root, schema, contentType));
    const isTextField = items.some((schema) => typesOf(root, schema).size > 0);
    const values = data.getAll(name).map(async (value) => {
      if (typeof value === 'string') return isFileField ? new File([value], '', { type: 'text/plain' }) : value;
      return isFileField || !isTextField ? value : await value.text();
    });
    return [name, field(root, media.schema, name, await Promise.all(values))] as const;
  });
  return Object.fromEntries(await Promise.all(fields));
}

/** The values of one field: as many as the schema takes, texts as the types that it asks for. */
function field(root: Json, schema: unknown, name: string, values: readonly (string | File)[]): unknown {
  const schemas = propertySchemas(root, schema, name);
  const array = schemas.find((inner) => typesOf(root, inner).has('array'));
  const value = (inner: unknown, item: string | File): unknown => {
    if (typeof item !== 'string') return item;
    return typesOf(root, inner).has('object') ? jsonOr(item) : typed(root, inner, item);
  };
  if (array !== undefined) return values.map((item, index) => value(itemSchemas(root, array, index)[0], item));
  return values.length === 1 && values[0] !== undefined ? value(schemas[0], values[0]) : values;
}

/**
 * The decompressed body. Refuses it as soon as it is too large or wrong; Node discards the rest while that is answered.
 *
 * @throws {HttpError} 400 or 413
 */
function readBytes(request: Request, limit: number): Promise<Buffer> {
  if (request.destroyed) return Promise.reject(cutOff());
  const decoder = DECODERS.get(codingOf(request))?.();
  const source: Readable = decoder === undefined ? request : request.pipe(decoder);
  const letGo = (): void => {
    if (decoder !== undefined) request.unpipe(decoder);
    decoder?.destroy();
    request.resume();
  };
  return new Promise((resolve, reject) => {
    const fail = (why: HttpError): void => {
      letGo();
      reject(why);
    };
    const chunks: Buffer[] = [];
    // What is sent is bounded as well as what it becomes: a decoder may take much and give nothing.
    for (const stream of new Set([request, source])) {
      let size = 0;
      stream.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > limit) fail(tooLarge(limit));
        else if (stream === source) chunks.push(chunk);
      });
    }
    request.on('error', () => fail(cutOff()));
    decoder?.on('error', () => fail(new HttpError(400, 'the body is not what its Content-Encoding says')));
    source.on('end', () => {
      letGo();
      resolve(Buffer.concat(chunks));
    });
  });
}

/** The request as a stream that ends with 413 when it grows past the limit. */
function limited(request: Request, response: Response, limit: number): Readable {
  let size = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      done(size > limit ? tooLarge(limit) : null, chunk);
    },
  });
  // A handler may drop the stream, or never look at it: that is no error, and the connection goes on behind it.
  stream.on('error', () => {});
  response.once('finish', () => {
    request.unpipe(stream);
    request.resume();
  });
  request.on('aborted', () => stream.destroy(cutOff()));
  return request.pipe(stream);
}

const tooLarge = (limit: number): HttpError => new HttpError(413, `the body must be at most ${limit} bytes`);

const cutOff = (): HttpError => new HttpError(400, 'the request was cut off');
