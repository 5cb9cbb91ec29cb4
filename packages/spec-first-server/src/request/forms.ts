import { isUtf8 } from 'node:buffer';
import { formReader, type Json, type MediaType } from 'openapi-document';
import { HttpError } from '../response/http-error.ts';

/** The object of an `application/x-www-form-urlencoded` body. */
export function urlencoded(root: Json, media: MediaType, text: string): unknown {
  try {
    return formReader(root, media).urlencoded(text);
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
  const reader = formReader(root, media);
  const fields = [...new Set(data.keys())].map(async (name) => {
    const holds = reader.holds(name);
    const values = data.getAll(name).map(async (value) => {
      if (typeof value === 'string') return holds.files ? new File([value], '', { type: 'text/plain' }) : value;
      return holds.files || !holds.text ? value : textOf(name, value);
    });
    return [name, await Promise.all(values)] as const;
  });
  return reader.multipart(new Map(await Promise.all(fields)));
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
  if (!isUtf8(bytes))
    throw HttpError.violations([{ path: `/body/${name}`, message: 'must be UTF-8', keyword: 'format' }]);
  return bytes.toString();
}
