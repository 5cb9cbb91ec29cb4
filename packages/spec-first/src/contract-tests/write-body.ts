import { isObject, itemWriter, type MediaType, stringifyJson, writeParameter } from 'openapi-document';

interface Written {
  readonly contentType: string;
  readonly bytes: Buffer;
}

const BOUNDARY = 'contract-tests-boundary';

/** Writes a body in its media type. */
export function writeBody(media: MediaType, value: unknown, raw?: string): Written {
  const contentType = concreteType(media.type);
  if (raw !== undefined) return { contentType, bytes: Buffer.from(raw) };
  if (media.items !== undefined) {
    const writer = itemWriter(media, contentType);
    const bytes = Buffer.concat([Buffer.from(writer.write(value, 0)), Buffer.from(writer.end)]);
    return { contentType: writer.contentType, bytes };
  }
  if (media.kind === 'multipart') {
    return { contentType: `${contentType}; boundary=${BOUNDARY}`, bytes: Buffer.from(multipart(value)) };
  }
  return { contentType, bytes: Buffer.from(media.kind === 'form' ? form(value) : text(media, value)) };
}

/** Whether a value can be written in a media type. */
export function isWritable({ kind, sequence, items }: MediaType, value: unknown): boolean {
  if (items !== undefined) return sequence !== 'events' || isEvent(value);
  if (kind === 'json') return true;
  // A body without bytes counts as missing.
  if (kind !== 'form' && kind !== 'multipart') return isScalar(value) && value !== '';
  return isObject(value) && Object.keys(value).length > 0 && Object.values(value).every((member) => isField(member));
}

const isEvent = (value: unknown): boolean =>
  isObject(value) &&
  Object.entries(value).every(
    ([name, member]) => name === 'data' || (/^(event|id|retry)$/.test(name) && !/[\r\n\0]/.test(String(member))),
  );

/** A scalar, or a list of scalars. `null` and lists without items have no form of their own. */
const isField = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 && value.every((item) => isScalar(item)) : isScalar(value);

const isScalar = (value: unknown): boolean => !isComposite(value) && value !== null;
const isComposite = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** A media type that a range admits. */
export const concreteType = (type: string): string =>
  type.replace(/^\*\/\*$|^application\/\*$/, 'application/octet-stream').replace(/\/\*$/, '/plain');

const text = ({ kind }: MediaType, value: unknown): string =>
  kind !== 'json' && typeof value === 'string' ? value : (stringifyJson(value) ?? '');

/** A form is written as a whole query is (OpenAPI 3.1 §4.8.15.1). */
const form = (value: unknown): string => writeParameter({ ...QUERY, name: '', media: { kind: 'form' } }, value);

const QUERY = { in: 'query', style: 'querystring', explode: true, json: false } as const;

/** A part for each member, and for each item of a list (RFC 7578). */
function multipart(value: unknown): string {
  const parts = Object.entries(isObject(value) ? value : {}).flatMap(([name, member]) =>
    [member].flat().map((item) => {
      const content = typeof item === 'string' ? item : (stringifyJson(item) ?? '');
      const disposition = `Content-Disposition: form-data; name="${name.replaceAll('"', '%22')}"`;
      return `--${BOUNDARY}\r\n${disposition}\r\n\r\n${content}\r\n`;
    }),
  );
  return `${parts.join('')}--${BOUNDARY}--\r\n`;
}
