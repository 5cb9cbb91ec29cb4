/** One thing that is wrong with a request or a reply: where, as a JSON pointer from its top, and what. */
export interface Violation {
  readonly path: string;
  readonly message: string;
}

/** Every way in which a request or a reply breaks the contract. */
export class Violations extends Error {
  override readonly name = 'Violations';
  readonly violations: readonly Violation[];

  constructor(violations: readonly Violation[]) {
    super('the contract is broken');
    this.violations = violations;
  }
}

const MOST = 20;

/** Violations as one line for people. A hostile body may break the contract in thousands of places: the first ones do. */
export function describeViolations(violations: readonly Violation[]): string {
  const lines = [...new Set(violations.map(({ path, message }) => `${path} ${message}`.trim()))];
  const more = lines.length > MOST ? [`and ${lines.length - MOST} more`] : [];
  return [...lines.slice(0, MOST), ...more].join('; ');
}
