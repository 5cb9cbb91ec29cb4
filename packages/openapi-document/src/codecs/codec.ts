import type { FormEncoding } from '../parameters/write-value.ts';
import type { Budget } from '../schema/budget.ts';
import type { Items } from '../schema/event.ts';
import type { Outline } from '../schema/outline.ts';

/** The declared facts about the bodies of a media type. */
export interface BodyFormat {
  /** The declared media type. May have parameters, or be a range such as `image/*`. */
  readonly type: string;
  /** The encoding of the fields of a form, by name. */
  readonly encoding?: FormEncoding | undefined;
  /** The schema. Clients have none: they receive texts as strings. */
  readonly outline?: Outline | undefined;
  /** The items of a body with an `itemSchema` (OpenAPI 3.2 §4.14.3). */
  readonly items?: Omit<Items, 'schema'> | undefined;
}

/** The declared format of a message, and its `Content-Type`. */
export interface Message {
  readonly format: BodyFormat;
  readonly contentType: string;
}

export type Chunks = AsyncIterable<Uint8Array>;

/** The facts about a codec that do not need its code. */
export interface CodecFacts {
  /** The unit that is read at once: the value, a form, a part of one, an item, or bytes. */
  readonly unit: 'value' | 'form' | 'parts' | 'items' | 'bytes';
  /** True if values may have bytes in place of strings: `Uint8Array`, `Blob` or `File`. */
  readonly hasBytes?: boolean;
  /** True for bodies that are read at once, as a text in UTF-8. */
  readonly isText?: boolean;
  /** True if an empty body is a value. Otherwise it is a missing body. */
  readonly canBeEmpty?: boolean;
  /** True if bytes, and streams of them, are also sent as they are, since texts can be long. */
  readonly acceptsStreams?: boolean;
}

/** Reads and writes values, or forms without files, as text in UTF-8. */
export interface TextCoder extends CodecFacts {
  readonly unit: 'value' | 'form';
  readonly isText: true;
  /**
   * @param budget pays for the patterns of names in a form.
   * @throws {UnreadableBody | ParameterError | BudgetExceeded}
   */
  read(text: string, format: BodyFormat, budget?: Budget): unknown;
  /** @throws {TypeError} if the format cannot represent the value. */
  write(value: unknown, format: BodyFormat): string;
}

/** Reads and writes values as bytes. */
export interface ValueCoder extends CodecFacts {
  readonly unit: 'value';
  readonly isText?: false;
  /** @throws {UnreadableBody} */
  read(bytes: Uint8Array, format: BodyFormat): unknown;
  /** @throws {TypeError} if the format cannot represent the value. */
  write(value: unknown, format: BodyFormat): Uint8Array;
}

/** Reads and writes the items of a body with an `itemSchema`, one after the other. */
export interface ItemsCoder extends CodecFacts {
  readonly unit: 'items';
  /** A comment that readers ignore, if the format has comments. */
  readonly comment?: string;
  /** Returns the media type with the parameters that the format needs. */
  contentType?(type: string): string;
  /**
   * Yields items as they arrive.
   *
   * @param limit the maximum size of an item: characters of a text, or else bytes.
   * @throws {UnreadableBody}
   */
  read(chunks: Chunks, message: Message, limit: number): AsyncIterable<unknown>;
  /** @throws {TypeError} if the format cannot represent the item. */
  write(item: unknown, message: Message): string | Uint8Array;
  /** Returns the text after the last item. */
  end?(message: Message): string;
}

/** Leaves bodies as bytes. Their schemas are not validated. */
export interface BytesCoder extends CodecFacts {
  readonly unit: 'bytes';
}

/** Reads and writes forms with files. */
export interface FormCoder extends CodecFacts {
  readonly unit: 'parts';
  contentType(type: string): string;
  /**
   * Reads parts as they arrive.
   *
   * @throws {UnreadableBody | ParameterError | BudgetExceeded}
   */
  read(chunks: Chunks, message: Message, storage: FormStorage): Promise<object>;
  write(fields: unknown, message: Message): Blob;
}

/** The place where a form keeps its parts while it is read. */
export interface FormStorage {
  /** Reads a text to its end, and parses it. */
  readText<T>(content: Chunks, parse: (bytes: Uint8Array) => T): Promise<T>;
  readFile(content: Chunks, name: string, type: string): Promise<File>;
  /** Runs work that takes time in proportion to the form. */
  run<T>(work: () => T): T | Promise<T>;
  /** Pays for the patterns of names. */
  readonly budget?: Budget;
}

export type Coder = TextCoder | ValueCoder | ItemsCoder | BytesCoder | FormCoder;

/** The code of a coder, without its facts. */
export type Code<C extends Coder> = Omit<C, keyof CodecFacts>;

/** Returns true if a body is read as a whole, and not in parts as it arrives. */
export const isReadAtOnce = (coder: Coder): coder is TextCoder | ValueCoder =>
  coder.unit === 'value' || coder.unit === 'form';

/** Returns true if a body is sent as it is: a text, bytes, or a stream of them. */
export const isSentAsItIs = (coder: Coder, body: unknown): boolean =>
  coder.unit === 'bytes' || (coder.acceptsStreams === true && typeof body === 'object');

/**
 * Reads a body that has arrived. Returns `undefined` for a missing body.
 *
 * @throws {UnreadableBody}
 */
export function readAtOnce<Bytes extends Uint8Array>(
  coder: TextCoder | ValueCoder,
  bytes: Bytes,
  format: BodyFormat,
  decode: (bytes: Bytes) => string = utf8,
  budget?: Budget,
): unknown {
  if (bytes.length === 0 && coder.canBeEmpty !== true) return undefined;
  return coder.isText ? coder.read(decode(bytes), format, budget) : coder.read(bytes, format);
}

/**
 * Reads chunks to their end. Stops as soon as there are more bytes than the limit.
 *
 * @param tooLarge creates the error for more bytes.
 * @param declaredLength the number of bytes, or 0 if it is unknown.
 * @param failureOf returns the error to throw for an error.
 */
export async function allBytes(
  chunks: Chunks,
  limit: number,
  tooLarge: () => Error,
  declaredLength = 0,
  failureOf = (error: unknown) => error,
): Promise<Uint8Array> {
  // One growing buffer. An array of one-byte chunks would take hundreds of times their size.
  let bytes = EMPTY;
  let size = 0;
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value: chunk } = await iterator.next();
      if (done) return bytes.subarray(0, size);
      const end = size + chunk.length;
      if (end > limit) throw tooLarge();
      // Most bodies arrive in one piece, which is not copied.
      if (size === 0 && end > 0 && end === declaredLength) return chunk;
      if (end > bytes.length) {
        const larger = new Uint8Array(Math.max(end, Math.min(8 * end, declaredLength || limit)));
        larger.set(bytes);
        bytes = larger;
      }
      bytes.set(chunk, size);
      size = end;
    }
  } catch (error) {
    await iterator.return?.();
    throw failureOf(error);
  }
}

const EMPTY = new Uint8Array();

/**
 * @param subject of the message.
 * @throws {UnreadableBody}
 * @throws {RangeError} for an unknown charset.
 */
export function decodedBytes(bytes: Uint8Array, subject = 'the body', charset = 'utf-8'): string {
  const decoder = new TextDecoder(charset, { fatal: true, ignoreBOM: true });
  try {
    return decoder.decode(bytes);
  } catch {
    throw new UnreadableBody(`must be ${decoder.encoding.toUpperCase()}`, { subject });
  }
}

const utf8 = (bytes: Uint8Array): string => decodedBytes(bytes);

/**
 * A format of bodies.
 *
 * @example
 * const cbor: Codec = {
 *   match: (type) => type === 'application/cbor',
 *   unit: 'value',
 *   read: (bytes) => decode(bytes),
 *   write: (value) => encode(value),
 * };
 */
export type Codec = (TextCoder | ValueCoder | ItemsCoder | BytesCoder) & {
  /** Returns true for a media type in this format, in lower case and without parameters. */
  match(type: string, format: BodyFormat): boolean;
};

/** Thrown if a body is not in its format. The message is a sentence about the body. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
  /** 400, 413 for a body that is too large, or 415 for an unsupported media type or charset. */
  readonly status: 400 | 413 | 415;
  /** A predicate, such as `must be JSON`. */
  readonly requirement: string;
  /** The message without names that the client chose, for the log. */
  readonly reason: string;

  /** @param part the name of the part of a form that cannot be read. */
  constructor(
    requirement: string,
    {
      status = 400,
      subject = 'the body',
      part,
    }: {
      readonly status?: UnreadableBody['status'];
      readonly subject?: string;
      readonly part?: string;
    } = {},
  ) {
    const name = part === undefined ? subject : `the part ${JSON.stringify(part)} of the body`;
    super(`${name} ${requirement}`);
    this.status = status;
    this.requirement = requirement;
    this.reason = part === undefined ? this.message : `a part of the body ${requirement}`;
  }
}

/** @param unit of the size. */
export const itemTooLarge = (limit: number, unit = 'characters'): UnreadableBody =>
  new UnreadableBody(`must be at most ${limit} ${unit}`, { status: 413 });
