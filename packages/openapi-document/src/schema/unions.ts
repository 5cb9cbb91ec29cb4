/** Unions, conditions and discriminators: they select further schemas for a value. */
import { asStrings, entriesOf, isObject, type Json } from '../source/document.ts';
import { baseTagName, tagOfBase, tagOfUnion } from './discriminator.ts';
import { isBytes } from './equality.ts';
import { TYPE_BITS, typeBitOf } from './json-types.ts';
import {
  type Context,
  MAX_VIOLATIONS,
  type Run,
  type SchemaSet,
  type Selector,
  type Violation,
} from './model.ts';
import { listOf } from './scalar-rules.ts';
import type { Tag } from './tag.ts';
import type { SchemaTree } from './tree.ts';

const UNION_KEYWORDS = ['anyOf', 'oneOf'] as const;

/** A `oneOf` or `anyOf`, or the schemas that extend a base schema. */
export interface Union {
  readonly alternatives: readonly Json[];
  /** The member that selects an alternative. */
  readonly tag: Tag | undefined;
  readonly keyword: 'anyOf' | 'oneOf';
  /** The schema that has the union. */
  readonly owner: Json;
  /** True if the alternatives extend the owner. */
  readonly isOfBase: boolean;
}

/** Lists the unions of all schemas in a set. */
export function unionsOf({ context, schemas, hidden }: SchemaSet): Union[] {
  return [...schemas].flatMap(([schema, { isBase }]) =>
    unionsIn(context.tree, schema, isBase).map((union) => {
      const isHidden = hidden.has(union.tag?.name ?? '') || hidesTag(context, union);
      return isHidden ? { ...union, tag: undefined } : union;
    }),
  );
}

/** True if the view removes the tag from the values of an alternative. */
const hidesTag = (context: Context, { tag, alternatives }: Union): boolean =>
  tag !== undefined && alternatives.some((schema) => context.setOf([schema]).hidden.has(tag.name));

/** @param isBase true if another schema extends this one. */
function unionsIn(tree: SchemaTree, owner: Json, isBase: boolean): Union[] {
  const unions = UNION_KEYWORDS.flatMap((keyword): Union[] => {
    const list = owner[keyword];
    if (!Array.isArray(list)) return [];
    const alternatives = list.map((alternative) => tree.schemaOf(alternative));
    const tag = tagOfUnion(tree, alternatives, owner.discriminator);
    return [{ owner, alternatives, tag, keyword, isOfBase: false }];
  });
  const tag = isBase ? undefined : tagOfBase(tree, owner);
  if (tag === undefined) return unions;
  const extensions = [...new Set(tag.values.values())];
  return [...unions, { owner, alternatives: extensions, tag, keyword: 'oneOf', isOfBase: true }];
}

/** Returns the selectors of one schema. */
export function selectorsOf({ context }: SchemaSet, schema: Json, isBase: boolean): Selector[] {
  const { tree } = context;
  const selectors = unionsIn(tree, schema, isBase).map((union) => unionSelector(context, union));
  if (schema.not !== undefined) selectors.push(notSelector(tree.schemaOf(schema.not)));
  if (schema.if !== undefined) selectors.push(conditionSelector(tree, schema));
  for (const [name, dependent] of entriesOf(schema.dependentSchemas)) {
    const targets = [tree.schemaOf(dependent)];
    selectors.push((current, value, run) => {
      const hasName = isObject(value) && Object.hasOwn(value, name) && value[name] !== undefined;
      return hasName ? current.select(schema, targets, run) : current;
    });
  }
  return selectors;
}

/** A reply loses its undeclared members first: `not` is tested with those that are written. */
function notSelector(schema: Json): Selector {
  const names = asStrings(schema.required);
  const isAboutNames = names.length > 1 && Object.keys(schema).length === 1;
  const message = isAboutNames
    ? `must not have ${names.join(' and ')} together`
    : 'must not match the schema in "not"';
  const params = isAboutNames ? { required: names } : {};
  return (current, value, run) => {
    const isReply = current.context.view === 'response' && run.violations !== undefined;
    const losesMembers = isReply && !run.isStrict && !run.files;
    if (losesMembers && typeof value === 'object' && value !== null) return current;
    const excluded = current.context.setOf([schema], current.hidden);
    if (run.test(excluded, value, true)) run.report('not', message, params);
    return current;
  };
}

function conditionSelector(tree: SchemaTree, owner: Json): Selector {
  const condition = tree.schemaOf(owner.if);
  const whenValid = [tree.schemaOf(owner.then ?? true)];
  const otherwise = [tree.schemaOf(owner.else ?? true)];
  return (current, value, run) => {
    const set = current.context.setOf([condition], current.hidden);
    return run.test(set, value, true)
      ? current.select(owner, [condition], run).select(owner, whenValid, run)
      : current.select(owner, otherwise, run);
  };
}

function unionSelector(context: Context, union: Union): Selector {
  const { owner, keyword, alternatives, tag } = union;
  const selectByTag = tag && tagSelector(owner, tag);
  let isHidden: boolean | undefined;
  /** The alternatives that allow a type, by its bit. */
  const candidatesByType = new Map<number, readonly Json[]>();

  return (current, value, run) => {
    if (selectByTag !== undefined && tag !== undefined && !current.hidden.has(tag.name)) {
      isHidden ??= hidesTag(context, union);
      if (!isHidden) return selectByTag(current, value, run);
    }
    const type = run.files && isBytes(value) ? TYPE_BITS.string : typeBitOf(value);
    const candidates = candidatesFor(type);
    if (candidates.length === 1) return current.select(owner, candidates, run);
    const matches = matching(current, candidates, value, run);
    if (matches.length === 0) {
      reportMismatch(current, keyword, candidates, value, run);
      return current;
    }
    if (keyword === 'oneOf' && matches.length > 1) {
      const passingSchemas = matches.map((schema) => alternatives.indexOf(schema));
      run.report('oneOf', 'must match exactly one schema in oneOf', { passingSchemas });
      return current;
    }
    // A scalar has no members that another set could change, but may be converted.
    const isScalar = typeof value !== 'object' && typeof value !== 'bigint';
    if (isScalar && !run.parsesFormats) return current;
    if (run.violations === undefined && !dependsOn(current, matches)) return current;
    return current.select(owner, matches, run);
  };

  /** True if the rest of the set depends on the alternatives that a value matches. */
  function dependsOn({ tracksEvaluated, hidden }: SchemaSet, matches: readonly Json[]): boolean {
    const hides = (schema: Json) => context.setOf([schema], hidden).hidden.size > hidden.size;
    return tracksEvaluated || matches.some(hides);
  }

  function candidatesFor(type: number): readonly Json[] {
    const known = candidatesByType.get(type);
    if (known !== undefined) return known;
    const candidates = alternatives.filter(
      (schema) => (context.setOf([schema]).types & type) !== 0,
    );
    candidatesByType.set(type, candidates);
    return candidates;
  }

  /**
   * Lists the alternatives that a value matches. Undeclared members of a reply are ignored, unless
   * only one alternative may match and they tell which: then it is the one that removes the fewest.
   */
  function matching(current: SchemaSet, candidates: readonly Json[], value: unknown, run: Run) {
    const setOf = (schema: Json) => context.setOf([schema], current.hidden);
    const test = (isStrict: boolean) =>
      candidates.filter((schema) => run.test(setOf(schema), value, isStrict));
    const isOpen = context.view === 'response' && !run.isStrict;
    if (!isOpen) return test(true);
    if (keyword === 'anyOf') return test(false);
    const strict = test(true);
    if (strict.length > 0) return strict;
    const open = test(false);
    if (open.length < 2) return open;
    const dropped = open.map((schema) => run.droppedBy(setOf(schema), value));
    const fewest = Math.min(...dropped);
    return open.filter((_, index) => dropped[index] === fewest);
  }
}

/** Reports a value that no alternative matches, with the violations of the one that fits best. */
function reportMismatch(
  { context, hidden }: SchemaSet,
  keyword: 'anyOf' | 'oneOf',
  candidates: readonly Json[],
  value: unknown,
  run: Run,
): void {
  const quantity = keyword === 'oneOf' ? 'exactly one' : 'a';
  const attempts =
    run.violations === undefined
      ? []
      : candidates.slice(0, MAX_VIOLATIONS).map((schema) => {
          const violations = run.violationsOf(context.setOf([schema], hidden), value);
          return { violations, distance: distanceOf(violations) };
        });
  const least = Math.min(...attempts.map(({ distance }) => distance));
  const [best, ...others] = attempts.filter(({ distance }) => distance === least);
  if (best !== undefined && others.length === 0)
    for (const { path, keyword: inner, message, params } of best.violations)
      run.report(inner, message, params, path);
  const names = attempts.flatMap(({ violations }) => onlyMissing(violations));
  if (names.length > 1 && names.length === candidates.length)
    run.report(keyword, `must have ${names.join(' or ')}`, { missingProperties: names });
  else run.report(keyword, `must match ${quantity} schema in ${keyword}`);
}

/** Returns the name of a member if its absence is the only violation. */
function onlyMissing([first, ...others]: readonly Violation[]): unknown[] {
  const isOnly = first?.keyword === 'required' && others.length === 0;
  return isOnly && first.path.lastIndexOf('/') === 0 ? [first.params?.missingProperty] : [];
}

/** Violations of a constant or near the top weigh more: the value was not meant for the schema. */
function distanceOf(violations: readonly Violation[]): number {
  return violations.reduce((sum, { keyword, path }) => {
    const depth = path.split('/').length - 1;
    const weight = keyword === 'enum' || keyword === 'type' ? 100 : 1;
    return sum + weight / (depth + 1);
  }, 0);
}

function tagSelector(owner: Json, { name, values, others, allowsNull }: Tag): Selector {
  const allowed = [...values.keys()];
  const message = `must be equal to one of the allowed values: ${listOf(allowed)}`;
  const types = allowsNull ? ['object', 'null'] : ['object'];
  return (current, value, run) => {
    if (!isObject(value) || isBytes(value)) {
      if (value !== null || !allowsNull)
        run.report('type', `must be ${types.join(' or ')}`, { type: types });
      return current;
    }
    const tagValue = Object.hasOwn(value, name) ? value[name] : undefined;
    const selected = values.get(tagValue) ?? others;
    if (selected !== undefined)
      return current.select(owner, [selected], run, baseTagName(selected) === name);
    if (tagValue === undefined)
      run.reportMember(name, 'required', 'is required', { missingProperty: name });
    else run.reportMember(name, 'enum', message, { allowedValues: allowed });
    return current;
  };
}
