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

const lazy = <const Facts extends CodecFacts, Loaded>(
  match: Codec['match'],
  facts: Facts,
  load: () => Promise<Loaded>,
) => ({ match, ...facts, load: async () => ({ ...facts, ...(await load()) }) });

const JSON_CODEC: LazyCodec = lazy(
  isJsonType,
  { unit: 'value', isText: true },
  async () => (await import('./json.ts')).json,
);

const ofItems =
  (match: (type: string) => boolean): Codec['match'] =>
  (type, { items }) =>
    items !== undefined && match(type);

/** The first codec that matches a media type reads and writes it. */
const CODECS: readonly LazyCodec[] = [
  JSON_CODEC,
  lazy(
    (type) => type === URLENCODED,
    { unit: 'form', isText: true, canBeEmpty: true },
    async () => (await import('./urlencoded.ts')).urlencoded,
  ),
  lazy(
    (type) => type === FORM_DATA,
    { unit: 'parts', hasBytes: true },
    async () => (await import('./multipart.ts')).multipart,
  ),
  lazy(
    ofItems((type) => type === 'text/event-stream'),
    { unit: 'items' },
    async () => (await import('./events.ts')).events,
  ),
  lazy(ofItems(isJsonLines), { unit: 'items' }, async () => (await import('./lines.ts')).lines),
  lazy(
    ofItems(isJsonSequence),
    { unit: 'items' },
    async () => (await import('./records.ts')).records,
  ),
  lazy(
    ofItems((type) => type === 'multipart/mixed'),
    { unit: 'items', hasBytes: true },
    async () => (await import('./mixed.ts')).mixed,
  ),
  lazy(
    // A list or an object has an unknown format, such as that of `text/csv`.
    (type, { outline }) =>
      type.startsWith('text/') &&
      type !== 'text/event-stream' &&
      (outline?.form ?? 'text') === 'text',
    { unit: 'value', isText: true, canBeEmpty: true, acceptsStreams: true },
    async () => (await import('./text.ts')).text,
  ),
  lazy(
    () => true,
    { unit: 'bytes' },
    async () => ({}),
  ),
];

type AnyCodec = Codec | LazyCodec;

/** The codecs of a service or a client: those of this package, and its own ones. */
export class Codecs {
  readonly #own: readonly Codec[];
  readonly #loaded = new Map<AnyCodec, Coder>();
  /** Those of media types that are not ranges. Each message asks for its coder. */
  readonly #coders = new WeakMap<BodyFormat, Coder>();

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
      const codec = this.#find(format);
      for (const each of isRange(format.type) ? [codec, JSON_CODEC] : [codec])
        if ('load' in each) this.#loaded.set(each, await each.load());
    }
  }

  /** Returns the codec of a media type, which must be loaded. See `factsOf`. */
  of(format: BodyFormat, contentType?: string): Coder {
    const known = this.#coders.get(format);
    if (known !== undefined) return known;
    const codec = this.#find(format, contentType);
    const coder = 'load' in codec ? this.#loaded.get(codec) : codec;
    if (coder === undefined) throw new Error(`the codec of ${format.type} is not loaded`);
    if (!isRange(format.type)) this.#coders.set(format, coder);
    return coder;
  }

  #find(format: BodyFormat, contentType = ''): AnyCodec {
    const ofContent = essenceOf(contentType);
    const ofFormat = essenceOf(format.type);
    const inRange = isRange(format.type) ? [...this.#own, JSON_CODEC] : [];
    const codec =
      inRange.find((each) => each.match(ofContent, format)) ??
      [...this.#own, ...CODECS].find((each) => each.match(ofFormat, format));
    if (codec === undefined) throw new Error(`no codec matches ${ofFormat}`);
    return codec;
  }
}
