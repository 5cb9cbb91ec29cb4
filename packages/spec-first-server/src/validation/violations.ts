/** One way in which a request or a reply does not match the document. */
export interface Violation {
  /** A JSON pointer to the value, such as `/body/name`. */
  readonly path: string;
  readonly message: string;
  /** The keyword of JSON Schema that the value breaks, such as `maxLength`. */
  readonly keyword: string;
}

/** A request or a reply does not match the document. */
export class Violations extends Error {
  override readonly name = 'Violations';
  readonly violations: readonly Violation[];

  constructor(violations: readonly Violation[]) {
    super('not as the document declares');
    this.violations = violations;
  }
}

const MOST = 20;

/** Violations as one line of text. Names the first ones: a hostile request can have thousands. */
export function describeViolations(violations: readonly Violation[]): string {
  const lines = [...new Set(violations.map(({ path, message }) => `${path} ${message}`.trim()))];
  const more = lines.length > MOST ? [`and ${lines.length - MOST} more`] : [];
  return [...lines.slice(0, MOST), ...more].join('; ');
}
