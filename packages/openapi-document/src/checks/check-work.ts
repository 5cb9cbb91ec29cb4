import { asArray, asObject, isObject, type Json, memoized, valueAt } from '../document/document.ts';
import type { Report } from './report.ts';

/** More schemas than this that describe one value are no API: a request would be validated for seconds. */
const MOST = 10_000;

/** Checks that not too many schemas describe one value: `allOf` of `allOf` of the same schemas doubles with each level. */
export function checkWork(root: Json, schema: unknown, pointer: string, { problem }: Report): void {
  const count = isObject(schema) ? countOf(root, schema) : 1;
  if (count > MOST)
    problem(pointer, `one value would be validated by ${count} schemas: more than ${MOST} take too long`);
}

const counting = new Set<Json>();

/** How many schemas describe one value, each as often as a way leads to it. One that contains itself counts once. */
const countOf: (root: Json, schema: Json) => number = memoized((root, schema) => {
  if (counting.has(schema)) return 0;
  counting.add(schema);
  const { $ref, allOf, anyOf, oneOf, dependentSchemas, ...others } = schema;
  const inside = [
    ...(typeof $ref === 'string' ? [valueAt(root, $ref)] : []),
    ...[allOf, anyOf, oneOf].flatMap(asArray),
    ...[others.not, others.if, others.then, others.else, ...Object.values(asObject(dependentSchemas))],
  ];
  const counts = inside.map((item) => (isObject(item) ? countOf(root, item) : 0));
  counting.delete(schema);
  return counts.reduce((sum, count) => sum + count, 1);
});
