import { MAX_VIOLATIONS, type Violation } from 'openapi-document';

export type { Violation } from 'openapi-document';

/** The maximum number of characters. Paths can be long, since clients choose names of members. */
const MAX_LENGTHS = { path: 200, message: 1_000 };

/** Thrown if a request or a reply does not match the document. */
export class Violations extends Error {
  override readonly name = 'Violations';
  /** At most 20, each with a short path. */
  readonly violations: readonly Violation[];

  /** False if there are more violations. */
  readonly isComplete: boolean;

  constructor(violations: readonly Violation[], isComplete = true) {
    const distinct = new Map<string, Violation>();
    // A client may send thousands of undeclared parameters.
    const isListed = violations.length <= MAX_VIOLATIONS;
    for (const violation of violations.slice(0, MAX_VIOLATIONS).map(shortened))
      distinct.set(`${violation.path} ${violation.message}`.trim(), violation);
    const lines = [...distinct.keys()];
    super((isComplete && isListed ? lines : [...lines, 'and more']).join('; '));
    this.violations = [...distinct.values()];
    this.isComplete = isComplete && isListed;
  }
}

const shortened = ({ path, message, ...others }: Violation): Violation => ({
  ...others,
  path: shortText(path, MAX_LENGTHS.path),
  message: shortText(message, MAX_LENGTHS.message),
});

function shortText(text: string, max: number): string {
  if (text.length <= max) return text;
  const half = Math.floor(max / 2);
  return `${text.slice(0, half)}…${text.slice(-half)}`;
}
