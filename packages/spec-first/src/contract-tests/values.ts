import type { Json, MediaType, Operation } from 'openapi-document';
import type { Secret } from './credentials.ts';
import type { Checks } from './validator.ts';

/** The values of a request, before they are written in their styles. */
export interface Values {
  readonly path: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly header: Readonly<Record<string, unknown>>;
  readonly cookie: Readonly<Record<string, unknown>>;
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

/** What the tests of an operation have in common. */
export interface Context {
  readonly root: Json;
  readonly operation: Operation;
  readonly checks: Checks;
  readonly secrets: readonly Secret[];
}
