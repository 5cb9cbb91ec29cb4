import { isUtf8 } from 'node:buffer';
import {
  asObject,
  coerce,
  isFile,
  itemSchemas,
  type Json,
  jsonOr,
  type MediaType,
  pairsOf,
  propertySchemas,
  typesOf,
} from 'openapi-document';
import { HttpError } from '../response/http-error.ts';

/** The object of an `application/x-www-form-urlencoded` body. */
export function urlencoded(root: Json, { schema }: MediaType, text: string): unknown {
  try {
    const fields = [...pairsOf(text)].map(([name, values]) => [name, values.map(decodeURIComponent)] as const);
    return Object.fromEntries(fields.map(([name, values]) => [name, field(root, schema, name, values)]));
  } catch (error) {
    if (error instanceof URIError) throw new HttpError(400, 'the body must be percent-encoded UTF-8');
    throw error;
  }
}

/** The object of a `multipart/form-data` body, with a `File` for each file. */
export async function multipart(root: Json, media: MediaType, contentType: string, bytes: Buffer): Promise<unknown> {
  const body = new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length);
  const data = await new Response(body, { headers: { 'content-type': contentType } }).formData().catch(() => {
    const required = 'multipart/form-data (RFC 7578) with the boundary that Content-Type names';
    throw new HttpError(400, `the body must be ${required}`);
  });
  if (!isUtf8(bytes) && hasInvalidText(bytes)) throw new HttpError(400, 'texts and names in the body must be UTF-8');
  const encoding = asObject(media.source.encoding);
  const fields = [...new Set(data.keys())].map(async (name) => {
    const { contentType: declared } = asObject(encoding[name]);
    const schemas = propertySchemas(root, media.schema, name);
    const items = schemas.flatMap((schema) => [schema, ...itemSchemas(root, schema, 0)]);
    const isFileField = items.some((schema) => isFile(root, schema, declared));
    const isTextField = items.some((schema) => typesOf(root, schema).size > 0);
    const values = data.getAll(name).map(async (value) => {
      if (typeof value === 'string') return isFileField ? new File([value], '', { type: 'text/plain' }) : value;
      return isFileField || !isTextField ? value : textOf(name, value);
    });
    return [name, field(root, media.schema, name, await Promise.all(values))] as const;
  });
  return Object.fromEntries(await Promise.all(fields));
}

/** Whether the head of a part, or a part without a file name, is not UTF-8. The parser would alter it. */
function hasInvalidText(bytes: Buffer): boolean {
  // The body is well-formed, so it begins with the boundary.
  const boundary = bytes.subarray(bytes.indexOf('--'), bytes.indexOf('\r\n', bytes.indexOf('--')));
  const delimiter = Buffer.concat([Buffer.from('\r\n'), boundary]);
  for (let start = 0; start >= 0; ) {
    const next = bytes.indexOf(delimiter, start + boundary.length);
    const part = bytes.subarray(start, next < 0 ? bytes.length : next);
    const headEnd = part.indexOf('\r\n\r\n');
    const head = part.subarray(0, headEnd < 0 ? part.length : headEnd);
    const hasFile = /;\s*filename\*?=/i.test(head.toString('latin1'));
    if (!isUtf8(hasFile ? head : part)) return true;
    start = next;
  }
  return false;
}

async function textOf(name: string, file: File): Promise<string> {
  const bytes = Buffer.from(await file.arrayBuffer());
  if (!isUtf8(bytes)) throw HttpError.violations([{ path: `/body/${name}`, message: 'must be UTF-8' }]);
  return bytes.toString();
}

/** The value of one field. It is a list if the schema has one. */
function field(root: Json, schema: unknown, name: string, values: readonly (string | File)[]): unknown {
  const schemas = propertySchemas(root, schema, name);
  const arrays = schemas.filter((inner) => typesOf(root, inner).has('array'));
  const itemsAt = (index: number) => arrays.flatMap((array) => itemSchemas(root, array, index));
  if (arrays.length > 0) return values.map((value, index) => fieldValue(root, itemsAt(index), value));
  return values.length === 1 ? fieldValue(root, schemas, values[0]) : values;
}

function fieldValue(root: Json, schemas: readonly unknown[], value: string | File | undefined): unknown {
  if (typeof value !== 'string') return value;
  return schemas.some((schema) => typesOf(root, schema).has('object')) ? jsonOr(value) : coerce(root, schemas, value);
}
