import type { Finding } from '../document/document.ts';

/** What the checks of a document found. */
export interface Checked {
  /** Why the document cannot be served. */
  readonly problems: readonly Finding[];
  /** Why operations cannot be served, by their ids. */
  readonly broken: ReadonlyMap<string, readonly Finding[]>;
  /** What is served otherwise than the document says, or not checked. */
  readonly notices: readonly Finding[];
}

/** What the checks of a document found, and what another check finds when it is asked for. */
export interface CheckedDocument extends Checked {
  /** The examples that do not fit their schemas. Takes longer than the other checks. */
  examples(): readonly Finding[];
}

/** What a check calls with each finding: a JSON pointer into the document (RFC 6901), and a message. */
export interface Report {
  /** Says why the document, or an operation that the place belongs to, cannot be served. */
  problem(pointer: string, message: string): void;
  /** Says what is served otherwise than the document says, or not checked. */
  notice(pointer: string, message: string): void;
}
