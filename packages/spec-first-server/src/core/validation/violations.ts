import type { ErrorObject } from 'ajv';
import { escapePointerToken, reasonOf } from 'openapi-document';

/** A difference between a request or a reply and the document. */
export interface Violation {
  /** A JSON pointer to the value, such as `/body/name`. The middle of a long one is left out. */
  readonly path: string;
  readonly message: string;
  /**
   * The keyword of JSON Schema that the value breaks, such as `maxLength`. `timeout` if validating
   * the value takes too long.
   */
  readonly keyword: string;
}

/** The maximum number of reported violations. A hostile request can have thousands. */
const MAX_VIOLATIONS = 20;

/** The maximum number of violations that are compared to remove duplicates. */
const MAX_COMPARED = 5 * MAX_VIOLATIONS;

/** The maximum number of characters. Paths can be long, since clients choose names of members. */
const MAX_LENGTHS = { path: 200, message: 1_000 };

/** Thrown if a request or a reply does not match the document. */
export class Violations extends Error {
  override readonly name = 'Violations';
  /** At most 20, each with a short path. */
  readonly violations: readonly Violation[];

  constructor(violations: Iterable<Violation>) {
    const distinct = new Map<string, Violation>();
    let compared = 0;
    let isComplete = true;
    for (const violation of violations) {
      const short = shortened(violation);
      const line = `${short.path} ${short.message}`.trim();
      const isNew = !distinct.has(line);
      isComplete = compared < MAX_COMPARED && !(isNew && distinct.size === MAX_VIOLATIONS);
      if (!isComplete) break;
      distinct.set(line, short);
      compared += 1;
    }
    const lines = [...distinct.keys()];
    super((isComplete ? lines : [...lines, 'and more']).join('; '));
    this.violations = [...distinct.values()];
  }
}

const shortened = ({ path, message, keyword }: Violation): Violation => ({
  path: shortText(path, MAX_LENGTHS.path),
  message: shortText(message, MAX_LENGTHS.message),
  keyword,
});

function shortText(text: string, max: number): string {
  if (text.length <= max) return text;
  const half = Math.floor(max / 2);
  return `${text.slice(0, half)}…${text.slice(-half)}`;
}

/** Returns true if the violation is an undeclared member. The client chose its name. */
export const isUndeclared = ({ keyword }: Pick<Violation, 'keyword'>): boolean =>
  /^(additional|unevaluated)Properties$/.test(keyword);

export function* violationsOf(errors: Iterable<ErrorObject>): Generator<Violation> {
  for (const error of errors) {
    // The error of a failed `if` adds no information to those inside it.
    if (error.keyword === 'if') continue;
    yield { path: pathOf(error), message: messageOf(error), keyword: error.keyword };
  }
}

/** Returns a message that continues the path, as in `/body/name is required`. */
function messageOf(error: ErrorObject): string {
  const { keyword, params } = error;
  if (keyword === 'required') return 'is required';
  if (keyword === 'dependentRequired') return `is required if ${params.property} is present`;
  return reasonOf(error);
}

function pathOf({ instancePath, params }: ErrorObject): string {
  const name = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
  return name === undefined ? instancePath : `${instancePath}/${escapePointerToken(String(name))}`;
}
