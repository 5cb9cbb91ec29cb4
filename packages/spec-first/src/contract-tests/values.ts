import type { Json, MediaType, Operation, Parameter } from 'openapi-document';
import type { OperationValidator } from 'spec-first-server/validation';
import type { Secret } from './credentials.ts';
import type { TestLog } from './log.ts';

export type Named = Readonly<Record<string, unknown>>;

/** A parameter, or a body of one media type. */
export interface Part {
  readonly in: Parameter['in'] | 'body';
  /** Empty for a body. */
  readonly name: string;
  readonly required: boolean;
  readonly schema: unknown;
  readonly parameter?: Parameter;
  readonly media?: MediaType;
  /** Values that the document shows, and values made from the schema. All are valid. */
  readonly examples: readonly unknown[];
  readonly made: readonly unknown[];
  /** Whether a server must accept a value, or must reject it; `undefined` if it cannot be sent as it is. */
  verdict(value: unknown): 'valid' | 'broken' | undefined;
}

/** The values of a request, before they are written in their styles. */
export type Values = ReadonlyMap<Part, unknown>;

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
  readonly isCut: boolean;
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
  readonly validator: OperationValidator;
  readonly secrets: readonly Secret[];
  readonly known: Known;
  readonly log?: TestLog | undefined;
}
