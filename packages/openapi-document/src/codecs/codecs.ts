import {
  essenceOf,
  FORM_DATA,
  isJsonLines,
  isJsonSequence,
  isJsonType,
  isRange,
  URLENCODED,
} from '../source/media-types.ts';
import type { BodyFormat, Codec, CodecFacts, Coder } from './codec.ts';

/** A codec of this package, which is loaded when a document or a call needs it. */
interface LazyCodec extends CodecFacts {
  readonly match: Codec['match'];
  readonly load: () => Promise<Coder>;
}

const JSON_CODEC: LazyCodec = {
  match: isJsonType,
  unit: 'value',
  load: async () => (await import('./json.ts')).json,
};

/** The first codec that matches a media type reads and writes it. */
const CODECS: readonly LazyCodec[] = [
  JSON_CODEC,
  {
    match: (type) => type === URLENCODED,
    unit: 'form',
    load: async () => (await import('./urlencoded.ts')).urlencoded,
  },
  {
    match: (type) => type === FORM_DATA,
    unit: 'form',
    hasBytes: true,
    load: async () => (await import('./multipart.ts')).multipart,
  },
  {
    match: (type, { items }) => items !== undefined && type === 'text/event-stream',
    unit: 'items',
    load: async () => (await import('./events.ts')).events,
  },
  {
    match: (type, { items }) => items !== undefined && isJsonLines(type),
    unit: 'items',
    load: async () => (await import('./lines.ts')).lines,
  },
  {
    match: (type, { items }) => items !== undefined && isJsonSequence(type),
    unit: 'items',
    load: async () => (await import('./records.ts')).records,
  },
  {
    match: (type, { items }) => items !== undefined && type === 'multipart/mixed',
    unit: 'items',
    hasBytes: true,
    load: async () => (await import('./mixed.ts')).mixed,
  },
  {
    // A list or an object has an unknown format, such as that of `text/csv`.
    match: (type, { outline }) =>
      type.startsWith('text/') &&
      type !== 'text/event-stream' &&
      (outline?.form ?? 'text') === 'text',
    unit: 'value',
    load: async () => (await import('./text.ts')).text,
  },
  {
    match: () => true,
    unit: 'bytes',
    load: async () => (await import('./bytes.ts')).bytes,
  },
];

type AnyCodec = Codec | LazyCodec;

/** The codecs of a service or a client: those of this package, and its own ones. */
export class Codecs {
  readonly #own: readonly Codec[];
  readonly #loaded = new Map<AnyCodec, Coder>();
  /** By format. Each message asks for its codec. */
  readonly #found = new WeakMap<BodyFormat, AnyCodec>();

  /** @param own the codecs that are tried first. */
  constructor(own: readonly Codec[] = []) {
    this.#own = own;
  }

  /**
   * Returns facts about the codec of a media type. It need not be loaded.
   *
   * @param contentType selects the codec if the declared media type is a range: bodies of JSON and
   *   of own codecs are read as such.
   */
  factsOf(format: BodyFormat, contentType?: string): CodecFacts {
    return this.#find(format, contentType);
  }

  /** Loads the codecs of media types. */
  async load(formats: Iterable<BodyFormat>): Promise<void> {
    for (const format of formats) {
      for (const codec of isRange(format.type)
        ? [this.#find(format), JSON_CODEC]
        : [this.#find(format)])
        if ('load' in codec) this.#loaded.set(codec, await codec.load());
    }
  }

  /** Returns the codec of a media type, which must be loaded. See `factsOf`. */
  of(format: BodyFormat, contentType?: string): Coder {
    const codec = this.#find(format, contentType);
    const coder = 'load' in codec ? this.#loaded.get(codec) : codec;
    if (coder === undefined) throw new Error(`the codec of ${format.type} is not loaded`);
    return coder;
  }

  #find(format: BodyFormat, contentType = ''): AnyCodec {
    if (isRange(format.type)) {
      const type = essenceOf(contentType);
      const codec = [...this.#own, JSON_CODEC].find((each) => each.match(type, format));
      if (codec !== undefined) return codec;
    }
    const found = this.#found.get(format);
    if (found !== undefined) return found;
    const type = essenceOf(format.type);
    const codec = [...this.#own, ...CODECS].find((each) => each.match(type, format));
    if (codec === undefined) throw new Error(`no codec matches ${type}`);
    this.#found.set(format, codec);
    return codec;
  }
}
