import { essenceOf, isJsonType } from '../document/media-types.ts';
import { parseJson, stringifyJson } from '../json/exact.ts';
import { type FormEncoding, styledField, writeForm } from '../parameters/write-parameter.ts';

/** Serializes a body as JSON or a form. Returns other bodies unchanged. */
export function encodeBody(
  type: string,
  body: unknown,
  encoding: FormEncoding = {},
): RequestInit['body'] {
  const essence = essenceOf(type);
  if (isJsonType(essence)) return stringifyJson(body);
  if (essence === 'application/x-www-form-urlencoded') return writeForm(Object(body), encoding);
  if (essence !== 'multipart/form-data') return body as RequestInit['body'];
  const form = new FormData();
  for (const [name, value] of Object.entries<unknown>(Object(body))) {
    const isStyled = styledField(name, encoding[name]) !== undefined;
    const fieldType = encoding[name]?.contentType;
    const items: unknown[] = [value].flat();
    if (items.some((item) => item instanceof Blob)) {
      for (const item of items) form.append(name, fileOf(item, fieldType));
    } else if (fieldType !== undefined && !isStyled && isJsonType(essenceOf(fieldType))) {
      const json = stringifyJson(value);
      if (json !== undefined) form.append(name, new Blob([json], { type: fieldType }));
    } else {
      const pairs = new URLSearchParams(writeForm({ [name]: value }, encoding));
      for (const [key, text] of pairs) form.append(key, text);
    }
  }
  return form;
}

/** A file without a media type gets the declared one, if that is a single type. */
function fileOf(item: unknown, type: string | undefined): Blob {
  if (!(item instanceof Blob)) return new Blob([String(item)], { type: type ?? 'text/plain' });
  const isDeclared = type !== undefined && !/[*,]/.test(type);
  if (item.type !== '' || !isDeclared) return item;
  return item instanceof File ? new File([item], item.name, { type }) : new Blob([item], { type });
}

/** Reads JSON as a value, text as a string, events and other types as a stream of bytes. */
export async function readBody(response: Response, type: string | undefined): Promise<unknown> {
  if (type === undefined || response.body === null) return undefined;
  if (isJsonType(essenceOf(type))) return parseJson(await response.text());
  return type.startsWith('text/') && type !== 'text/event-stream' ? response.text() : response.body;
}
