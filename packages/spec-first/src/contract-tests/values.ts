import { isObject, type Json, type MediaType, type Operation } from 'openapi-document';
import { valuesOf } from 'openapi-document/samples';
import type { Secret } from './credentials.ts';
import type { TestLog } from './log.ts';
import { inDecimals } from './scalars.ts';
import type { Checks } from './validator.ts';

export type Named = Readonly<Record<string, unknown>>;

/** The values of a request, before they are written in their styles. */
export interface Values {
  readonly path: Named;
  readonly query: Named;
  readonly header: Named;
  readonly cookie: Named;
  readonly body?: RequestBody | undefined;
}

export interface RequestBody {
  readonly media: MediaType;
  readonly value: unknown;
  /** The text that is sent instead of the value. */
  readonly raw?: string;
  /** The media type that is sent instead of the declared one. */
  readonly contentType?: string;
}

/** A request as it is sent. */
export interface Sent {
  readonly method: string;
  /** Path and query, after the base URL. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
}

/** An answer, read to its end. */
export interface Answer {
  readonly status: number;
  /** By names in lower case; values of one name are joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Whether the rest of a stream was not read. */
  readonly isCut?: boolean;
  /** The items of a stream, as far as they could be read. */
  readonly items?: readonly unknown[];
  /** What is wrong with the next item. */
  readonly unreadable?: string;
}

/** What exists in the service, as its replies tell: values of path parameters that belong together. */
export interface Known {
  /** Takes ids from a reply: by links, by `Location`, and by properties that are named as path parameters are. */
  learn(operation: Operation, values: Values, answer: Answer): void;
  /** The path parameters of something that exists; `undefined` if nothing is known. */
  pathOf(operation: Operation, turn: number): Named | undefined;
  /** Values for a parameter or a member by its name, such as `roomId`. */
  valuesOf(name: string): readonly unknown[];
}

/** What the tests of an operation have in common. */
export interface Context {
  readonly root: Json;
  readonly operation: Operation;
  readonly checks: Checks;
  readonly secrets: readonly Secret[];
  readonly known: Known;
  readonly log?: TestLog | undefined;
}

/** The schema of a body, or of each item of a stream. */
export const schemaOf = ({ items, schema }: MediaType): unknown => (items === undefined ? schema : items.schema);

/** How many values are made of a schema. Most schemas need one: the others are made by changing it. */
const SAMPLES = 12;

/** Values made from a schema. Not all are valid. */
export const samplesOf = (root: Json, schema: unknown): unknown[] =>
  isObject(schema) ? valuesOf(root, schema, 'readOnly').take(SAMPLES).toArray().map(rounded) : ['text', 1, true, {}];

const rounded = (value: unknown): unknown =>
  value === undefined
    ? undefined
    : JSON.parse(JSON.stringify(value), (_key, item) => (typeof item === 'number' ? inDecimals(item) : item));
