/** What a check calls with each finding: a JSON pointer into the document (RFC 6901), and a message. */
export interface Report {
  /** Says why the document, or an operation that the place belongs to, cannot be served. */
  problem(pointer: string, message: string): void;
  /** Says what is served otherwise than the document says, or not checked. */
  notice(pointer: string, message: string): void;
}
