import type { ErrorObject, ValidateFunction } from 'ajv';
import { type Json, onFirstUse, schemas } from 'openapi-document';
import { createAjvSchemas } from './ajv-schemas.ts';
import { withinBudget } from './budget.ts';
import { type Cost, costOf, repeatsOf } from './cost.ts';
import { createEovAjv, type Formats } from './eov.ts';
import { plainJson, rewrite } from './rewrite.ts';
import { createShapes } from './shapes.ts';
import { copyStart, measureValue, type Size } from './size.ts';
import { isUndeclared, Violations, violationsOf } from './violations.ts';

type Schema = schemas.LoweredSchema;

export interface CheckOptions {
  readonly formats: Formats;
  /** True if a schema of the document has `unevaluatedItems`. */
  readonly tracksItems: boolean;
  /** True if a schema of the document has `unevaluatedProperties`. */
  readonly tracksMembers: boolean;
  /** True if undeclared and `x-dropped` members are removed. */
  readonly drops: boolean;
}

export interface SchemaOptions {
  /** True if strings may be files. */
  readonly files?: boolean;
  /** The start of the paths of violations, such as `/body`. */
  readonly path?: string;
  /** Called with the name of each member that is removed from a reply. */
  readonly onDrop?: ((name: string) => void) | undefined;
}

/**
 * Validates a value. Returns a value of a request with defaults, and a value of a reply without
 * undeclared members.
 *
 * @throws {Violations}
 */
export type Check = (value: unknown) => unknown;

/**
 * The number of steps above which a validation has a time limit: members × schemas × repetitions,
 * plus the steps of regular expressions. A million steps take a few milliseconds.
 */
const MAX_STEPS = 1_000_000;

/**
 * The maximum number of steps for collecting violations: members × schemas. Lower than
 * {@link MAX_STEPS}, because Ajv copies all earlier violations for each member.
 */
const MAX_COLLECTING_STEPS = 3_000;

/** The minimum number of members that are included when violations are collected. */
const MIN_COLLECTED = 50;

/** The time limit for collecting the violations of slow patterns and deep values. */
const COLLECTING_MS = 20;

/** The time limit for validating a small value. Large values have more time. */
const VALIDATING_MS = 30;

/**
 * The depth from which values always have a time limit if they are measured: nested alternatives
 * may take exponential time.
 */
const MIN_TIMED_DEPTH = 12;

/** The context of a validation in Ajv. */
const ROOT_CONTEXT = { parentData: {}, parentDataProperty: '', rootData: {}, dynamicAnchors: {} };

/** Returns a function that creates the check of a schema. Compiles a schema on its first use. */
export function createChecks(
  lowered: schemas.LoweredSchemas,
  direction: schemas.Direction,
  options: CheckOptions,
): (schema: Schema, options?: SchemaOptions) => Check {
  const { formats, drops } = options;
  const isRequest = direction === 'request';
  const hasFormat = (name: string) =>
    Object.hasOwn(formats, name) || schemas.isStandardFormat(name);
  const { convert, definitions } = createAjvSchemas(lowered, { ...options, hasFormat });
  const compileFirst = createCompiler(false);
  const compileAll = createCompiler(true);
  const alternativeOf = onFirstUse((schema: Json) =>
    // Undeclared members of a reply are removed, so they are ignored.
    compileFirst(convert(schema, { files: true, open: drops && !isRequest })),
  );
  const shapeOf = createShapes(lowered, direction, matches);

  return (schema, { files = false, path = '', onDrop } = {}) => {
    const context = { ...ROOT_CONTEXT, instancePath: path };
    const rewriting = { shapeOf, files, onDrop };
    let prepared: { readonly cost: Cost; readonly validate: ValidateFunction } | undefined;
    let validateAll: ValidateFunction | undefined;

    return (value) => {
      prepared ??= {
        cost: costOf(schema, lowered.$defs),
        validate: compileFirst(convert(schema, { files, open: false })),
      };
      const { cost, validate } = prepared;
      const isMeasured = isRequest || cost.hasAlternatives;
      const size = isMeasured ? measureValue(value, cost.degree) : undefined;
      const isRewritten = isRequest ? cost.changesValues || size?.hasBigint === true : drops;
      let result = value;
      const task = () => {
        if (isRewritten && !isRequest) result = rewrite(rewriting, schema, value);
        const isValid = validate(result, context);
        if (isRewritten && isRequest && isValid) result = rewrite(rewriting, schema, value);
      };
      if (size !== undefined && needsTimeLimit(size, cost, isRewritten)) {
        // Compiled before the limit starts: Ajv is unusable after an interrupted compilation.
        if (isRewritten) cost.matched.forEach(alternativeOf);
        withinTime(task, size);
      } else {
        task();
      }
      if (validate.errors) throw collect(result, validate, cost);
      return result;
    };

    /** Checks only the start of a large value. */
    function collect(value: unknown, { errors }: ValidateFunction, cost: Cost): Violations {
      validateAll ??= compileAll(convert(schema, { files, open: false }));
      const validate = validateAll;
      const maxMembers = Math.max(MIN_COLLECTED, MAX_COLLECTING_STEPS / cost.schemas);
      const start = copyStart(value, maxMembers, path);
      const { depth, steps, members } = measureValue(start.value, cost.degree);
      const isRepeated = members * repeatsOf(cost, depth) > MAX_COLLECTING_STEPS;
      let collected: readonly ErrorObject[] = [];
      const task = () => {
        validate(start.value, context);
        collected = validate.errors ?? [];
      };
      if (isRepeated || isSlow(depth, steps)) withinBudget(task, COLLECTING_MS);
      else task();
      const isKept = (error: ErrorObject) =>
        isUndeclared(error) || !start.incomplete.has(error.instancePath);
      const reportedErrors = collected.some(isKept) ? collected.values().filter(isKept) : errors;
      return new Violations(violationsOf(reportedErrors ?? []));
    }
  };

  /** A reply has a time limit only if its validation may take exponential time. */
  function needsTimeLimit(
    { members, steps, depth }: Size,
    cost: Cost,
    isRewritten: boolean,
  ): boolean {
    if (!isRequest) return depth >= MIN_TIMED_DEPTH;
    // Rewriting matches the alternatives again at each level.
    const matchingRounds = isRewritten && cost.unions > 0 ? depth + 1 : 1;
    const repeats = repeatsOf(cost, depth) * matchingRounds;
    return isSlow(depth, members * cost.schemas * repeats + steps);
  }

  function withinTime(task: () => void, { members, longest }: Size): void {
    const milliseconds = VALIDATING_MS + members * 0.002 + longest * 0.000_01;
    if (withinBudget(task, milliseconds)) return;
    const message = `the ${direction} takes too long to validate`;
    throw new Violations([{ path: '', message, keyword: 'timeout' }]);
  }

  function createCompiler(allErrors: boolean): (schema: Schema) => ValidateFunction {
    let ajv: ReturnType<typeof createEovAjv> | undefined;
    return (schema) => {
      ajv ??= createEovAjv({ direction, allErrors, formats });
      schemas.addDefinitions(ajv, definitions.keys(), (ref) => definitions.get(ref) ?? true);
      return ajv.compile(schema);
    };
  }

  function matches(schema: Json, value: unknown): boolean {
    return alternativeOf(schema)(isRequest ? value : plainJson(value));
  }
}

const isSlow = (depth: number, steps: number): boolean =>
  depth >= MIN_TIMED_DEPTH || steps > MAX_STEPS;
