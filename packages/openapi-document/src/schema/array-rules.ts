import { asArray, type Json } from '../source/document.ts';
import { equalityKey } from './equality.ts';
import { typeBitOf } from './json-types.ts';
import type { ArrayRules, Assertion, Run, SchemaSet } from './model.ts';
import { countRules } from './scalar-rules.ts';
import { ANYTHING } from './tree.ts';
import { innerFirst, within } from './unevaluated.ts';

/** `unevaluatedItems` beside `contains`: applies to the items that `contains` does not match. */
interface Unmatched {
  readonly from: number;
  readonly contains: readonly SchemaSet[];
  readonly set: SchemaSet;
}

export function arrayRules(set: SchemaSet): ArrayRules {
  const { context, schemas } = set;
  const { tree } = context;
  const parts = [...schemas.keys()];
  const prefixOf = (schema: Json) => asArray(schema.prefixItems);
  const prefixLength = Math.max(0, ...parts.map((schema) => prefixOf(schema).length));
  const { starts, unmatched } = unevaluatedItems();
  const first = Array.from({ length: prefixLength }, (_, index) => itemAt(index));
  const others = itemAt(prefixLength);
  const before = countRules<readonly unknown[]>(set, 'Items', ({ length }) => length);
  const after = itemAssertions(set);
  // JSON writes `undefined` and functions as null, so each item of a reply is read.
  const readsAll = context.view === 'response' || unmatched.length > 0;

  const item = (index: number) => (index < prefixLength ? first[index] : others);
  return { read, item, prefixLength };

  function read(items: readonly unknown[], run: Run): unknown {
    run.countMembers(items.length);
    const countBefore = run.count;
    for (const assertion of before) assertion(items, run);
    if (run.count !== countBefore && run.isDone) return items;
    const result =
      readsAll || first.length > 0 || others !== undefined ? readItems(items, run) : items;
    for (const assertion of after) assertion(run.parsesFormats ? items : result, run);
    return result;
  }

  function readItems(items: readonly unknown[], run: Run): readonly unknown[] {
    let copy: unknown[] | undefined;
    for (let index = 0; index < items.length; index += 1) {
      const source = items[index];
      const itemSet = index < prefixLength ? first[index] : others;
      const isFree = itemSet !== undefined && (itemSet.free & typeBitOf(source)) !== 0;
      let item = source;
      if (!isFree || unmatched.length > 0) {
        const countBefore = run.count;
        item = readItem(itemSet, index, source, run);
        if (run.count !== countBefore) {
          run.locate(countBefore, index);
          if (run.isDone) return items;
        }
      }
      if (copy !== undefined) copy.push(item);
      else if (item !== source) {
        copy = items.slice(0, index);
        copy.push(item);
      }
    }
    return copy ?? items;
  }

  function readItem(
    itemSet: SchemaSet | undefined,
    index: number,
    source: unknown,
    run: Run,
  ): unknown {
    const isText = typeof source !== 'function' && typeof source !== 'symbol';
    const value = source === undefined || !isText ? null : source;
    let item = itemSet === undefined ? anyItem(value, run) : itemSet.read(value, run);
    for (const { from, contains, set: rest } of unmatched) {
      const isContained = () => contains.some((inner) => run.test(inner, item, true));
      if (index >= from && !isContained()) item = rest.read(item, run);
    }
    return item;
  }

  function anyItem(value: unknown, run: Run): unknown {
    if (typeof value !== 'object' || value === null) return value;
    return context.setOf([ANYTHING]).read(value, run);
  }

  function itemAt(index: number): SchemaSet | undefined {
    const found: Json[] = [];
    for (const schema of parts) {
      const prefix = prefixOf(schema);
      const item = index < prefix.length ? prefix[index] : schema.items;
      if (item !== undefined) found.push(tree.schemaOf(item));
      if (index >= (starts.get(schema) ?? Number.POSITIVE_INFINITY))
        found.push(tree.schemaOf(schema.unevaluatedItems));
    }
    return found.length === 0 ? undefined : context.setOf(found);
  }

  /** Finds the first index that each `unevaluatedItems` applies to (JSON Schema 2020-12 §11.2). */
  function unevaluatedItems() {
    const evaluatesAll = new Set<Json>();
    const startsOf = new Map<Json, number>();
    const unmatchedItems: Unmatched[] = [];
    for (const schema of innerFirst(schemas)) {
      if (schema.unevaluatedItems === undefined) continue;
      const inner = within(schemas, schema);
      if (inner.some((other) => other.items !== undefined || evaluatesAll.has(other))) continue;
      evaluatesAll.add(schema);
      const from = Math.max(0, ...inner.map((other) => prefixOf(other).length));
      const contains = inner.filter((other) => other.contains !== undefined);
      if (contains.length === 0) {
        startsOf.set(schema, from);
        continue;
      }
      unmatchedItems.push({
        from,
        contains: contains.map((other) => context.setOf([tree.schemaOf(other.contains)])),
        set: context.setOf([tree.schemaOf(schema.unevaluatedItems)]),
      });
    }
    return { starts: startsOf, unmatched: unmatchedItems };
  }
}

/** The assertions about the items as they are written. */
function itemAssertions({ schemas, facts, context }: SchemaSet): Assertion<unknown>[] {
  const assertions: Assertion<unknown>[] = facts.hasDistinctItems ? [distinctItems] : [];
  for (const schema of schemas.keys()) {
    const { contains, minContains = 1, maxContains = Number.POSITIVE_INFINITY } = schema;
    if (contains === undefined) continue;
    const [min, max] = [Number(minContains), Number(maxContains)];
    const set = context.setOf([context.tree.schemaOf(contains)]);
    const most = max < Number.POSITIVE_INFINITY ? ` and no more than ${max}` : '';
    const message = `must contain at least ${min}${most} valid item(s)`;
    assertions.push((items, run) => {
      const count = asArray(items).filter((item) => run.test(set, item, true)).length;
      if (count < min || count > max)
        run.report('contains', message, { minContains: min, maxContains: max });
    });
  }
  return assertions;
}

function distinctItems(items: unknown, run: Run): void {
  const positions = new Map<unknown, number>();
  for (const [index, item] of asArray(items).entries()) {
    const key = equalityKey(item, run);
    const earlier = positions.get(key);
    if (earlier !== undefined) {
      const pair = `items ## ${earlier} and ${index} are identical`;
      run.report('uniqueItems', `must NOT have duplicate items (${pair})`, {
        i: index,
        j: earlier,
      });
      return;
    }
    positions.set(key, index);
  }
}
