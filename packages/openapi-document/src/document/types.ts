import type { Finding, Json, Location } from './document.ts';
import type { PathTemplate } from './path-template.ts';

/** An OpenAPI document. Each `$ref` points into `root`, also where the document consists of several files. */
export interface Document {
  readonly file: string;
  readonly root: Json;
  /** The version of OpenAPI that it is written in. `root` is of 3.1 or 3.2. */
  readonly version: string;
  /** Absolute paths of all files that were read. */
  readonly files: readonly string[];
  /** In the order of the document. */
  readonly operations: readonly Operation[];
  /**
   * What the service sends: webhooks with their names as paths, and callbacks with `operationId.name`. Of a callback with
   * several URLs, the first one counts.
   */
  readonly webhooks: readonly Operation[];
  /** The paths of its servers' URLs, with each value that their variables may have; one that is empty without servers. */
  readonly basePaths: readonly [string, ...string[]];
  /** The Security Scheme Objects by name, references followed. */
  readonly securitySchemes: Readonly<Record<string, Json>>;
  /** The parts of `root` that came from other files, by their pointers in `root`. */
  readonly origins: ReadonlyMap<string, Location>;
  /** The references that cannot be followed, which are removed. */
  readonly unresolved: readonly Finding[];
  /** What is read otherwise than it is written. */
  readonly mended: readonly Finding[];
  /** The findings as text, one line each, in the order of the files: `file:line:column message`. Equal lines appear once. */
  describe(findings: readonly Finding[]): string;
}

/** How a media type's bodies are read, checked and written. */
export type BodyKind = 'json' | 'text' | 'form' | 'multipart' | 'stream';

/** Server-sent events, a JSON text for each line, JSON texts after a record separator, or parts of a multipart body. */
export type Sequence = 'events' | 'lines' | 'records' | 'parts';

/** How the `data` of an event is written: as JSON, as text, or objects and arrays as JSON and all else as text. */
export type EventData = 'json' | 'text' | 'mixed';

/** The items of a sequence. */
export interface Items {
  /** The schema of their values. */
  readonly schema: unknown;
  /** How the `data` of events is written. */
  readonly data: EventData;
}

/** A value that the document shows, perhaps under a name, and its place. */
export interface Example {
  readonly value: unknown;
  readonly name?: string;
  readonly pointer: string;
}

/** How the items of a sequence are written. */
export interface ItemWriter {
  /** The media type, with the parameters that the format needs. */
  readonly contentType: string;
  /** The text or bytes of an item. @throws {TypeError} if the format cannot hold it. */
  readonly write: (item: unknown, index: number) => string | Uint8Array;
  /** What follows the last item. */
  readonly end: string;
  /** What a client ignores, if the format has such a thing. */
  readonly comment: string | undefined;
}

/** The fields of a form by name. A file is a `Blob`. */
export type Fields<T = Blob> = ReadonlyMap<string, readonly (string | T)[]>;

/** Reads forms. */
export interface FormReader {
  /** The object of an `application/x-www-form-urlencoded` body. @throws {URIError | ParameterError} */
  urlencoded(text: string): Json;
  /** The object of a `multipart/form-data` body. @throws {ParameterError} */
  multipart<T>(fields: Fields<T>): Json;
  /** Whether a field holds files, text, or both. */
  holds(name: string): { readonly files: boolean; readonly text: boolean };
}

/** A Media Type Object (OpenAPI 3.1 §4.8.14) under its name. */
export interface MediaType {
  /** As the document writes it. May be a range such as `image/*`. */
  readonly type: string;
  readonly kind: BodyKind;
  /** A Schema Object, which may be `true` or `false` (JSON Schema 2020-12 §4.3.2), or `undefined`. */
  readonly schema: unknown;
  /** The schema of each item of a sequence, or `undefined` (OpenAPI 3.2 §4.14.3). Such a body is a stream. */
  readonly itemSchema: unknown;
  /** How the items of a sequence are written, or `undefined` if the media type is no sequence. */
  readonly sequence: Sequence | undefined;
  /** The items of a sequence that has an `itemSchema`. */
  readonly items: Items | undefined;
  /** Whether the schema restricts more than text or bytes of any kind do. */
  readonly constrained: boolean;
  /** The same media type for bodies in JSON, if it is a range that includes JSON. */
  readonly asJson: MediaType | undefined;
  readonly pointer: string;
  /** The Media Type Object itself. */
  readonly source: Json;
  /** What the document shows. The `data` of events is as in a reply. */
  examples(): readonly Example[];
  /** A text as a value of the types that the schema names. */
  coerce(text: string): unknown;
  /** Prepares to read forms. */
  formReader(): FormReader;
  /**
   * Reads the items of a sequence as they come.
   *
   * @param contentType the `Content-Type` of the body.
   * @param limit the maximum size of an item, in bytes or characters.
   * @throws {UnreadableItem}
   */
  readItems(contentType: string, chunks: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<unknown>;
  /** Prepares to write the items of a sequence. */
  itemWriter(contentType: string): ItemWriter;
}

/** A parameter, or a header of a response. */
export interface Parameter {
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly name: string;
  readonly required: boolean;
  /** In the style `querystring`, which the document declares by `in`, the value is the whole query (OpenAPI 3.2). */
  readonly style: string;
  readonly explode: boolean;
  /** Whether characters such as `/` are written as they are in a query. */
  readonly allowReserved: boolean;
  /** Whether the value is JSON (`content`), not text in a `style`. */
  readonly json: boolean;
  readonly schema: unknown;
  /** The media type of the value, if it has one. */
  readonly media: MediaType | undefined;
  readonly pointer: string;
  /** The Parameter Object or Header Object itself. */
  readonly source: Json;
  /** What the document shows, also for the media type. */
  examples(): readonly Example[];
  /** Writes a value by `style` and `explode`: for a query or a cookie with its name, otherwise the text alone. */
  write(value: unknown): string;
  /** The value of a text that `write` made. @throws {URIError | ParameterError} */
  read(text: string): unknown;
}

export interface DeclaredResponse {
  /** A status code, a range such as `4XX`, or `default`. */
  readonly key: string;
  readonly media: readonly MediaType[];
  /** Their names are in lower case, their style is `simple`. */
  readonly headers: readonly Parameter[];
  readonly pointer: string;
  /** The Response Object itself. */
  readonly source: Json;
}

/** Names of security schemes, with the scopes that each must grant. All must be satisfied. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

/** An Operation Object (OpenAPI 3.1 §4.8.10) with the members of its path item and the document, references followed. */
export interface Operation {
  readonly id: string;
  /** Lower case. */
  readonly method: string;
  /** The path template, as the document writes it. */
  readonly path: string;
  readonly template: PathTemplate;
  readonly pointer: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody: RequestBody | undefined;
  readonly responses: readonly DeclaredResponse[];
  /** Alternatives. Empty if no credentials are needed. */
  readonly security: readonly SecurityRequirement[];
  /** The Operation Object itself. */
  readonly source: Json;
}

export interface RequestBody {
  readonly required: boolean;
  readonly media: readonly MediaType[];
  /** The Request Body Object itself. */
  readonly source: Json;
}
