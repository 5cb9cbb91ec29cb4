import { put } from '../json/parser.ts';
import { asArray, asStrings, entriesOf, type Json } from '../source/document.ts';
import { type Budget, spend, UNLIMITED } from './budget.ts';
import { Facts } from './facts.ts';
import { typeBitOf } from './json-types.ts';
import { type Assertion, type Member, type ObjectRules, Run, type SchemaSet } from './model.ts';
import { countRules } from './scalar-rules.ts';
import { ANYTHING, type SchemaTree } from './tree.ts';
import { innerFirst, within } from './unevaluated.ts';

const removed = (rejectedBy?: string, isRequired = false): Member => ({
  set: undefined,
  rejectedBy,
  isRequired,
  oneWay: [],
  twoWay: [],
});

/** An undeclared member: removed from a reply, but kept in a test inside of a schema. */
const UNDECLARED = removed();

const REJECTIONS: Readonly<Record<string, string>> = {
  additionalProperties: 'must NOT have additional properties',
  unevaluatedProperties: 'must NOT have unevaluated properties',
  readOnly: 'must not be present',
  writeOnly: 'must not be present',
};

/** The steps for a schema with members whose names match other patterns than earlier ones. */
const STEPS_OF_MEMBER = 4;

/** Limits the memory for combinations of patterns. */
const MAX_COMBINATIONS = 1_000;

/** A default, and the member that it fills in. */
interface Default {
  readonly name: string;
  readonly set: SchemaSet;
  readonly value: unknown;
  /** Known when the default is first needed: a default that is no valid value is not filled in. */
  isValid: boolean | undefined;
}

export function objectRules(set: SchemaSet): ObjectRules {
  const { context, schemas, facts, hidden, optional } = set;
  const { tree, view } = context;
  const isReply = view === 'response';
  const parts = [...schemas.keys()];
  const required = facts.required.difference(optional);
  const requiredNames = [...required];
  const dependents = new Set(
    parts.flatMap(({ dependentRequired }) =>
      entriesOf(dependentRequired).flatMap(([name, names]) => [name, ...asStrings(names)]),
    ),
  );
  /** Names that are not clients' inventions, so their members are cached. */
  const fixedNames = new Set([...hidden, ...facts.names, ...required, ...dependents]);
  /** Closes an object of a reply: its other members are undeclared. */
  const declaresMembers =
    parts.some((schema) => (schema.properties ?? schema.patternProperties) !== undefined) ||
    parts.some((schema) => tree.isNothing(schema.unevaluatedProperties)) ||
    hidden.size > 0;
  const unevaluating = innerFirst(schemas).filter(
    (schema) => schema.unevaluatedProperties !== undefined,
  );
  const { namePatterns } = facts;
  const members = new Map<string, Member>();
  /** Members with names that no schema lists, by the patterns that match them. */
  const membersByPatterns = new Map<string, Member>();
  const rest = createMember(undefined, []);
  const assertions = objectAssertions(set);
  const defaults = view === 'request' ? defaultsOf() : [];
  let conditionNames: ReadonlySet<string> | 'all' | undefined;
  /** The members of the last object, in its order: the next object often has the same. */
  const lastNames: string[] = [];
  const lastMembers: Member[] = [];

  return {
    read,
    member: (name) => member(name, UNLIMITED),
    required,
    isFilled: (name) =>
      !mayBeLeftOut(name) && defaults.some((preset) => preset.name === name && fits(preset)),
  };

  function read(source: Json, run: Run, whole: SchemaSet): unknown {
    const object = enumerable(source);
    // Most alternatives of a union lack a required member, which is the cheapest test.
    if (run.violations === undefined && lacksRequired(object)) {
      run.count += 1;
      return object;
    }
    const countBefore = run.count;
    let missing = required.size;
    let copy: Record<string, unknown> | undefined;
    // After one object with names such as "200", `for in` is slow for all objects.
    const names = Object.keys(object);
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index] as string;
      const value = object[name];
      const declared =
        lastNames[index] === name ? lastMembers[index] : nextMember(name, index, run);
      if (value === undefined || declared === undefined) continue;
      // JSON does not write functions and symbols.
      if (typeof value === 'function' || typeof value === 'symbol') {
        copy ??= copyBefore(object, name);
        continue;
      }
      if (declared === UNDECLARED && run.isStrict) {
        if (copy !== undefined) put(copy, name, value);
        continue;
      }
      const { set: memberSet, rejectedBy } =
        declared.oneWay.length === 0 ? declared : meaningOf(declared, value, run);
      const result =
        memberSet === undefined
          ? drop(name, rejectedBy, run)
          : readMember(name, memberSet, value, run);
      // `toJSON` of a reply may return nothing, and an alternative may remove the value.
      const isPresent =
        result !== undefined || declared.set === undefined || rejectedBy !== undefined;
      if (declared.isRequired && isPresent) missing -= 1;
      if (run.count !== countBefore && run.isDone) return object;
      if (result !== value) copy ??= copyBefore(object, name);
      if (copy !== undefined && result !== undefined) put(copy, name, result);
    }
    run.countMembers(names.length);
    const written = copy ?? object;
    if (missing > 0) reportMissing(written, run);
    for (const assertion of assertions) assertion(written, run);
    return defaults.length === 0 ? written : withDefaults(written, object, run, whole);
  }

  function lacksRequired(object: Json): boolean {
    for (const name of requiredNames)
      if (object[name] === undefined || !Object.hasOwn(object, name)) return true;
    return false;
  }

  function nextMember(name: string, index: number, run: Run): Member {
    const found = member(name, run);
    if (index <= lastNames.length && fixedNames.has(name)) {
      lastNames[index] = name;
      lastMembers[index] = found;
    }
    return found;
  }

  /** Returns the meaning of a member whose alternatives decide whether it is removed. */
  function meaningOf(member: Member, value: unknown, run: Run): Member {
    const allows = (alternative: SchemaSet) => run.test(alternative, value, false);
    const isRemoved = member.oneWay.some(allows) && !member.twoWay.some(allows);
    return isRemoved ? removed(rejectionOf([])) : member;
  }

  function readMember(name: string, memberSet: SchemaSet, value: unknown, run: Run): unknown {
    if ((memberSet.free & typeBitOf(value)) !== 0) return value;
    const countBefore = run.count;
    const result = memberSet.read(value, run);
    if (run.count !== countBefore) run.locate(countBefore, name);
    return result;
  }

  /** Removes a member, or rejects it. */
  function drop(name: string, rejectedBy: string | undefined, run: Run): undefined {
    if (rejectedBy !== undefined && (!isReply || run.isStrict)) {
      const message = REJECTIONS[rejectedBy] ?? 'must not be present';
      run.reportMember(name, rejectedBy, message, { [rejectedBy.replace(/ies$/, 'y')]: name });
    }
    run.dropped += 1;
    if (run.violations !== undefined) run.onDrop?.(name);
    return undefined;
  }

  function reportMissing(object: Json, run: Run): void {
    for (const name of required) {
      if (Object.hasOwn(object, name) && object[name] !== undefined) continue;
      run.reportMember(name, 'required', 'is required', { missingProperty: name });
      if (run.isDone) return;
    }
  }

  function fits({ set: memberSet, value }: Default, run = new Run({ budget: UNLIMITED })): boolean {
    return run.test(memberSet, value, true);
  }

  /** @param whole the set before alternatives were selected: a default may select others. */
  function withDefaults(written: Json, source: Json, run: Run, whole: SchemaSet): Json {
    if (run.violations === undefined) return written;
    const presets = defaults.filter((preset) => {
      if (Object.hasOwn(written, preset.name)) return false;
      preset.isValid ??= fits(preset, run);
      return preset.isValid;
    });
    if (presets.length === 0) return written;
    const tested: Record<string, unknown> = { ...source };
    const completed: Record<string, unknown> = { ...written };
    for (const { name, set: memberSet, value } of presets) {
      if (mayBeLeftOut(name) && !run.test(whole, { ...tested, [name]: value }, true)) continue;
      put(tested, name, value);
      // Scalars are not cloned: `structuredClone` takes a microsecond.
      const copy: unknown = typeof value === 'object' ? structuredClone(value) : value;
      put(completed, name, memberSet.read(copy, run));
    }
    return completed;
  }

  function member(name: string, budget: Budget): Member {
    const known = members.get(name);
    if (known !== undefined) return known;
    if (fixedNames.has(name)) {
      const created = createMember(name, tree.matching(namePatterns, name, UNLIMITED));
      members.set(name, created);
      return created;
    }
    const matched = tree.matching(namePatterns, name, budget);
    if (matched.length === 0) return rest;
    const key = matched.join('\0');
    const cached = membersByPatterns.get(key);
    if (cached !== undefined) return cached;
    // Clients choose the combinations of patterns.
    spend(budget, STEPS_OF_MEMBER * parts.length);
    if (membersByPatterns.size === MAX_COMBINATIONS) membersByPatterns.clear();
    const created = createMember(undefined, matched);
    membersByPatterns.set(key, created);
    return created;
  }

  /**
   * @param name `undefined` for names that no schema lists.
   * @param matched the patterns that match the name.
   */
  function createMember(name: string | undefined, matched: readonly string[]): Member {
    const found: Json[] = [];
    const evaluating = new Set<Json>();
    const isRequired = name !== undefined && required.has(name);
    let isDeclared = isRequired || (name !== undefined && dependents.has(name));
    let closedBy: string | undefined;
    for (const schema of parts) {
      const declared = tree.declared(schema, name, matched);
      for (const inner of declared) found.push(tree.schemaOf(inner));
      isDeclared ||= declared.length > 0;
      const { additionalProperties: others } = schema;
      if (declared.length === 0 && others === undefined) continue;
      evaluating.add(schema);
      if (declared.length > 0) continue;
      found.push(tree.schemaOf(others));
      if (tree.isNothing(others)) closedBy = 'additionalProperties';
    }
    for (const schema of unevaluating) {
      if (within(schemas, schema).some((inner) => evaluating.has(inner))) continue;
      found.push(tree.schemaOf(schema.unevaluatedProperties));
      evaluating.add(schema);
      if (tree.isNothing(schema.unevaluatedProperties)) closedBy ??= 'unevaluatedProperties';
    }
    const isHidden = name !== undefined && hidden.has(name);
    const isOneWay = () => isHidden || found.some((schema) => tree.isOneWay(schema, view));
    if (view !== 'example' && isOneWay()) return removed(rejectionOf(found), isRequired);
    const isClosed = closedBy !== undefined && (!isDeclared || !isReply);
    if (isClosed) return removed(closedBy, isRequired);
    if (isReply && !isDeclared && found.length === 0 && declaresMembers) return UNDECLARED;
    const set = context.setOf(found.length === 0 ? [ANYTHING] : found);
    const alternatives =
      view === 'example' ? [] : found.flatMap((schema) => tree.alternatives(schema));
    const { oneWay = [], twoWay = [] } = Object.groupBy(alternatives, (schema) =>
      tree.isOneWay(schema, view) ? 'oneWay' : 'twoWay',
    );
    return {
      set,
      rejectedBy: undefined,
      isRequired,
      oneWay: oneWay.map((schema) => context.setOf([schema])),
      // A reply never contains what may be a secret.
      twoWay: isReply || oneWay.length === 0 ? [] : twoWay.map((schema) => context.setOf([schema])),
    };
  }

  /** Returns the keyword that rejects a member that only the other direction has. */
  function rejectionOf(found: readonly Json[]): string | undefined {
    if (view === 'received') return 'writeOnly';
    const isRejected = view === 'request' && found.some((schema) => tree.isRejected(schema));
    return isRejected || view === 'sent' ? 'readOnly' : undefined;
  }

  /** True if an object may be invalid because it has the member. */
  function mayBeLeftOut(name: string): boolean {
    conditionNames ??= namesInConditions(tree, parts);
    return conditionNames === 'all' || conditionNames.has(name);
  }

  function defaultsOf(): Default[] {
    const hasDefault = (property: unknown) =>
      tree.facts(tree.schemaOf(property)).default !== undefined;
    const names = parts.flatMap(({ properties }) =>
      entriesOf(properties).flatMap(([name, property]) => (hasDefault(property) ? [name] : [])),
    );
    return [...new Set(names)].flatMap((name) => {
      const { set: memberSet } = member(name, UNLIMITED);
      const preset = memberSet?.facts.default;
      if (memberSet === undefined || preset === undefined) return [];
      return [{ name, set: memberSet, value: preset.value, isValid: undefined }];
    });
  }
}

/** Returns the members that, if they are present, may make an object invalid. */
function namesInConditions(tree: SchemaTree, parts: readonly Json[]): ReadonlySet<string> | 'all' {
  const names = new Set<string>();
  const add = (schema: unknown, keywords: readonly ('required' | 'names')[]) => {
    const facts = new Facts(tree.possible(tree.schemaOf(schema)));
    for (const keyword of keywords) for (const name of facts[keyword]) names.add(name);
  };
  for (const schema of new Set(parts.flatMap((part) => tree.possible(part)))) {
    if ((schema.maxProperties ?? schema.propertyNames) !== undefined) return 'all';
    for (const keyword of ['dependentRequired', 'dependentSchemas'])
      for (const [name] of entriesOf(schema[keyword])) names.add(name);
    for (const condition of [schema.not, schema.if])
      if (condition !== undefined) add(condition, ['required', 'names']);
    for (const alternative of asArray(schema.oneOf)) add(alternative, ['required']);
  }
  return names;
}

function objectAssertions(set: SchemaSet): Assertion<Json>[] {
  const { context, schemas, hidden } = set;
  const assertions = countRules<Json>(set, 'Properties', countOf);
  for (const { propertyNames, dependentRequired } of schemas.keys()) {
    if (propertyNames !== undefined) {
      const names = context.setOf([context.tree.schemaOf(propertyNames)]);
      assertions.push((object, run) => {
        for (const name of Object.keys(object)) {
          if (object[name] === undefined || run.test(names, name, true)) continue;
          const [violation] = run.isDone ? [] : run.violationsOf(names, name);
          const reason = violation && `: it ${violation.message}`;
          const message = `has a name that is not valid${reason ?? ''}`;
          run.reportMember(name, 'propertyNames', message, { propertyName: name });
          if (run.isDone) return;
        }
      });
    }
    for (const [name, dependents] of entriesOf(dependentRequired)) {
      assertions.push((object, run) => {
        if (!Object.hasOwn(object, name) || object[name] === undefined) return;
        for (const dependent of asStrings(dependents)) {
          if (Object.hasOwn(object, dependent) && object[dependent] !== undefined) continue;
          if (hidden.has(dependent)) continue;
          const message = `is required if ${name} is present`;
          const params = { property: name, missingProperty: dependent };
          run.reportMember(dependent, 'dependentRequired', message, params);
        }
      });
    }
  }
  return assertions;
}

const countOf = (object: Json): number =>
  Object.values(object).filter((value) => value !== undefined).length;

/** Returns an object with the members that JSON writes: not those of a prototype. */
function enumerable(object: Json): Json {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === Object.prototype || prototype === null ? object : { ...object };
}

function copyBefore(object: Json, end: string): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const name in object) {
    if (name === end) break;
    if (Object.hasOwn(object, name) && object[name] !== undefined) put(copy, name, object[name]);
  }
  return copy;
}
