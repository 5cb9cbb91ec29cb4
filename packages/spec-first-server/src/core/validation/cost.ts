import { asArray, asObject, isObject, type Json, schemas } from 'openapi-document';

/** The figures of a schema that bound the time of a validation. */
export type Cost = ReturnType<typeof costOf>;

/** Keywords whose values are not schemas. */
const DATA_KEYWORDS = new Set(['enum', 'const', 'default', 'example', 'examples']);

/** Adds up the costs of a lowered schema and of all schemas that it needs. */
export function costOf(source: schemas.LoweredSchema, $defs: Json) {
  const cost = {
    /** The number of schemas and of required members. */
    schemas: 0,
    /**
     * A format or a regular expression takes at most as many steps as the length of the text to
     * this power.
     */
    degree: 1,
    /** True if a value may be validated against several alternatives. */
    hasAlternatives: false,
    /** True if valid values are changed: defaults are added, or members removed. */
    changesValues: false,
  };
  const references = new Set<string>();
  measure(source);
  // Grows during the loop.
  for (const ref of references) measure($defs[schemas.definitionName(ref)]);
  return cost;

  function measure(part: unknown): void {
    if (Array.isArray(part)) for (const item of part) measure(item);
    if (!isObject(part)) return;
    const { $ref, format, pattern, required, patternProperties } = part;
    cost.schemas += 1 + asArray(required).length;
    const patterns = [pattern, ...Object.keys(asObject(patternProperties))];
    const degrees = patterns.filter((text) => typeof text === 'string').map(schemas.patternDegree);
    // Some formats of strings take quadratic time.
    const isText = typeof format === 'string' && !/^(int|float|double)/.test(format);
    cost.degree = Math.max(cost.degree, isText ? 2 : 1, ...degrees);
    cost.hasAlternatives ||= (part.anyOf ?? part.oneOf ?? part.if ?? part.not) !== undefined;
    cost.changesValues ||= part['x-dropped'] !== undefined || Object.hasOwn(part, 'default');

    for (const [key, value] of Object.entries(part)) if (!DATA_KEYWORDS.has(key)) measure(value);
    if (typeof $ref === 'string') references.add($ref);
  }
}
