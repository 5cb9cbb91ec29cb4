import { formField, formParts, readFields } from '../parameters/forms.ts';
import { isRange, mediaTypeFor } from '../source/media-types.ts';
import { type Code, type FormCoder, UnreadableBody } from './codec.ts';
import {
  boundaryOf,
  contentTypeOf,
  type Part,
  partHeader,
  partsOf,
  partText,
  TEXTS,
  withBoundary,
} from './parts.ts';

const MAX_BODY_PARTS = 1000;

const RULES = {
  requirement: 'must be multipart/form-data (RFC 7578), and begin and end with its boundary',
  acceptsOtherText: false,
};

/** Forms with files (RFC 7578). Reads files as `File` objects. */
export const multipart: Code<FormCoder> = {
  contentType: withBoundary,

  async read(chunks, { format, contentType }, storage) {
    const fields = new Map<string, unknown[]>();
    const options = { isPlain: true, budget: storage.budget };
    let partCount = 0;
    for await (const part of partsOf(chunks, contentType, RULES)) {
      partCount += 1;
      if (partCount > MAX_BODY_PARTS)
        throw new UnreadableBody(`must have at most ${MAX_BODY_PARTS} parts`, { status: 413 });
      const { name, filename } = fieldOf(part);
      const { type, charset } = contentTypeOf(part);
      const field = formField(format, name, options);
      const { isFile, isText } = field.kind();
      const isSentAsFile = filename !== undefined || type === 'application/octet-stream';
      const values = fields.get(name) ?? [];
      if (!isFile || !isSentAsFile) {
        if (!isSentAsFile && !isText)
          throw new UnreadableBody('must be a file, with a filename', { part: name });
        // Browsers send no media type with a text.
        if (isSentAsFile || type !== 'text/plain') checkType(name, field.types(), type);
        const texts = await storage.readText(part.content, (bytes) =>
          field.textValues(type, partText(bytes, charset, name)),
        );
        for (const text of texts) values.push(text);
      } else {
        if (filename !== '') checkType(name, field.types(), type);
        const file = await storage.readFile(part.content, filename ?? '', type);
        // For a file input without a file, browsers send an empty part with an empty filename
        // (https://html.spec.whatwg.org/#constructing-the-form-data-set).
        if (filename === '' && file.size === 0) continue;
        if (filename === '') checkType(name, field.types(), type);
        values.push(file);
      }
      fields.set(name, values);
    }
    return storage.run(() => readFields(format, fields, options));
  },

  write(fields, { format: { encoding }, contentType }) {
    const boundary = boundaryOf(contentType);
    const pieces: (string | Blob)[] = [];
    const add = (name: string, content: string | Blob, filename?: string, type?: string) => {
      if (unescaped(escaped(name)) !== name)
        throw new TypeError(`a field cannot have the name ${JSON.stringify(name)}`);
      const suffix = filename === undefined ? '' : `; filename="${escaped(filename)}"`;
      const typeLine = type === undefined ? '' : `\r\nContent-Type: ${type}`;
      const disposition = `form-data; name="${escaped(name)}"${suffix}`;
      const head = `--${boundary}\r\nContent-Disposition: ${disposition}${typeLine}\r\n\r\n`;
      pieces.push(head, content, '\r\n');
    };
    for (const { name, text, file, type } of formParts(Object(fields), encoding, true))
      if (text === undefined) add(name, ...fileOf(file, type));
      else add(name, text, undefined, type);
    return new Blob([...pieces, `--${boundary}--\r\n`]);
  },
};

/** Browsers escape names and filenames in the same way. */
const escaped = (name: string): string => name.replace(/[\r\n"]/g, encodeURIComponent);

/** Line breaks stay escaped, since names come into logs and headers. */
const unescaped = (name: string): string => name.replaceAll('%22', '"');

/** A file without a media type gets the declared one, if that is a single type. */
function fileOf(
  item: unknown,
  declared: string | undefined,
): [content: string | Blob, filename: string, type: string] {
  if (!(item instanceof Blob)) return [String(item), 'blob', declared ?? 'text/plain'];
  const isSingle = declared !== undefined && !declared.includes(',') && !isRange(declared);
  const type = item.type || (isSingle ? declared : 'application/octet-stream');
  return [item, item instanceof File ? item.name : 'blob', type];
}

/** Reads the headers of a part of a form (RFC 7578 §4.2). @throws {UnreadableBody} */
function fieldOf({ headers }: Part) {
  const { value, parameters } = dispositionOf(headers);
  const { name, filename, 'filename*': extendedFilename } = parameters;
  if (value !== 'form-data' || !name) throw unnamed();
  const sentFilename =
    extendedFilename === undefined ? filename && unescaped(filename) : decoded(extendedFilename);
  return {
    name: unescaped(name),
    filename: sentFilename && withoutFolders(sentFilename),
  };
}

function dispositionOf(headers: Part['headers']) {
  try {
    return partHeader(headers, 'content-disposition', '');
  } catch {
    throw unnamed();
  }
}

const unnamed = (): UnreadableBody =>
  new UnreadableBody('must have the Content-Disposition form-data with a name (RFC 7578 §4.2)', {
    subject: 'a part of the body',
  });

/** Removes folders (RFC 7578 §4.2). Returns `_` if no name is left. */
function withoutFolders(filename: string): string {
  const name = filename.split(/[/\\]/).findLast((segment) => segment !== '');
  return name === undefined || name === '.' || name === '..' ? '_' : name;
}

/** Decodes the value of `filename*` (RFC 8187), which some clients send besides `filename`. */
function decoded(value: string): string {
  const [, encoded] = /^utf-8'[^']*'(.*)$/i.exec(value) ?? [];
  try {
    if (encoded !== undefined) return decodeURIComponent(encoded);
  } catch {
    // Reported below.
  }
  throw new UnreadableBody('must be UTF-8', { subject: TEXTS });
}

/**
 * @param declared media types in lower case, or ranges such as `image/*`. Empty for any type.
 * @throws {UnreadableBody} 415
 */
function checkType(part: string, declared: readonly string[], type: string): void {
  const isAccepted = mediaTypeFor(
    declared.map((range) => ({ type: range })),
    type,
  );
  if (declared.length === 0 || isAccepted) return;
  const requirement = `must be ${declared.join(' or ')} (RFC 7578 §4.4)`;
  throw new UnreadableBody(requirement, { status: 415, part });
}
