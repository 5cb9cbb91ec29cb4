/** One way in which a request or a reply does not match the document. */
export interface Violation {
  /** A JSON pointer to the value, such as `/body/name`. */
  readonly path: string;
  readonly message: string;
  /** The keyword of JSON Schema that the value breaks, such as `maxLength`. */
  readonly keyword: string;
}

/** How many of them the message names: a hostile request can have thousands. */
const MOST = 20;

/** A request or a reply does not match the document. */
export class Violations extends Error {
  override readonly name = 'Violations';
  readonly violations: readonly Violation[];

  constructor(violations: readonly Violation[]) {
    const lines = [...new Set(violations.map(({ path, message }) => `${path} ${message}`.trim()))];
    const more = lines.length > MOST ? [`and ${lines.length - MOST} more`] : [];
    super([...lines.slice(0, MOST), ...more].join('; '));
    this.violations = violations;
  }
}
