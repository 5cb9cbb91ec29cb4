import { type Context, createContext, Script } from 'node:vm';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { asArray, escapePointerToken, type Json } from 'openapi-document';
import { eovCompiler } from './eov.ts';
import { keywords, type Pass } from './keywords.ts';
import type { SchemaRewriter } from './rewrite.ts';

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

/** Validates a value. Completes one of a request: rounds numbers, fills in defaults, drops members. @throws {Violations} */
export type Check = (value: unknown) => void;

/** Whether a validator looks for every violation, or only for the first. */
type Mode = 'all' | 'first';

/** The time to collect violations grows with their square. A value with so many members is validated up to the first. */
const MANY = 2000;

/** The time for alternatives in alternatives doubles with each level. */
const DEEP = 12;

/** Prepares to validate values by rewritten schemas. Each one is compiled when it is first used. */
export function checksFor(rewriter: SchemaRewriter): (schema: Json) => Check {
  const { direction, components, found } = rewriter;
  const isRequest = direction === 'request';
  const pass: Pass = { isRequest, isFilling: false };
  const compilers: Partial<Record<Mode, ReturnType<typeof eovCompiler>>> = {};
  const compile = (mode: Mode, schema: Json): ValidateFunction => {
    compilers[mode] ??= eovCompiler(direction, components, { allErrors: mode === 'all', keywords: keywords(pass) });
    return compilers[mode](schema);
  };

  return (schema) => {
    const validators: Partial<Record<Mode, ValidateFunction>> = {};
    return (value) => {
      const { members, longest, depth, hasUndefined } = survey(value);
      const mode = members < MANY ? 'all' : 'first';
      validators[mode] ??= compile(mode, schema);
      const validate = validators[mode];
      const isShort = members < MANY && longest <= found.safeLength;
      const given = !isRequest && hasUndefined ? withoutUndefined(value) : value;
      // Others wait for as long as this takes.
      const milliseconds = 50 + members * 0.002 + longest * 0.000_01;
      if (depth < DEEP && (isShort || !isRequest)) validate(given);
      else if (!withinBudget(() => void validate(given), milliseconds)) {
        const message = `the ${direction} takes too long to validate`;
        throw new Violations([{ path: '', message, keyword: 'timeout' }]);
      }
      if (validate.errors) throw new Violations(violationsOf(validate.errors));
      if (!isRequest || !found.isCompleting) return;
      pass.isFilling = true;
      validate(value);
      pass.isFilling = false;
    };
  };
}

/** Counts the members of a value and of all values inside, and finds the longest text and the deepest value. */
function survey(value: unknown, found = { members: 0, longest: 0, depth: 0, hasUndefined: false }, depth = 0) {
  if (depth > found.depth) found.depth = depth;
  if (typeof value === 'string') {
    if (value.length > found.longest) found.longest = value.length;
  } else if (value === undefined) found.hasUndefined = true;
  else if (Array.isArray(value)) {
    found.members += value.length;
    // A loop over an array with `for … in` takes several times as long.
    for (let at = 0; at < value.length; at += 1) survey(value[at], found, depth + 1);
  } else if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) {
    for (const key in value) {
      found.members += 1;
      if (key.length > found.longest) found.longest = key.length;
      survey((value as Record<string, unknown>)[key], found, depth + 1);
    }
  }
  return found;
}

function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(members.map(([name, item]) => [name, withoutUndefined(item)]));
}

function violationsOf(errors: readonly ErrorObject[]): Violation[] {
  // A failed `if` adds nothing to the violations inside it.
  const telling = errors.filter(({ keyword }) => keyword !== 'if');
  return (telling.length > 0 ? telling : errors).map(({ keyword, instancePath, message = '', params }) => {
    const name = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
    return {
      path: name === undefined ? instancePath : `${instancePath}/${escapePointerToken(String(name))}`,
      message: params.allowedValues ? `${message}: ${asArray(params.allowedValues).join(', ')}` : plain(message),
      keyword,
    };
  });
}

const plain = (message: string): string => (message === 'boolean schema is false' ? 'must not be present' : message);

/** How often a task may be run from its start, where the thread had no processor. */
const ATTEMPTS = 4;

const script = new Script('task()');
let context: Context | undefined;

/**
 * Runs a synchronous task for a bounded time. `node:vm` is the one interface of Node that can stop running code. It takes
 * some 50 µs, so it is used only for what may take long.
 *
 * @returns whether the task came to its end.
 */
export function withinBudget(task: () => void, milliseconds: number): boolean {
  context ??= createContext({});
  context.task = task;
  // A busy machine may have stopped the thread. So the time of the processor counts, and each attempt has twice as long.
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const timeout = milliseconds * 2 ** attempt;
    const before = process.threadCpuUsage();
    try {
      script.runInContext(context, { timeout: Math.ceil(timeout) });
      return true;
    } catch (error) {
      if (!isTimeout(error)) throw error;
      const { user, system } = process.threadCpuUsage(before);
      if ((user + system) / 1000 > milliseconds / 2) break;
    }
  }
  return false;
}

/** The error is of the other context, so it is no instance of `Error`. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
