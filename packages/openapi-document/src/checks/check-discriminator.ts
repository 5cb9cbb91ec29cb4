import { childrenOf, tagOfBase, tagOfUnion } from '../schema/discriminator.ts';
import type { Schemas } from '../schema/schemas.ts';
import {
  asArray,
  asObject,
  entriesOf,
  escapePointerToken,
  type Json,
  valueAt,
} from '../source/document.ts';
import type { Report } from './check-structure.ts';
import { similarName } from './similar-name.ts';

/** Reports a discriminator that is ignored, a missing property, and wrong mappings. */
export function checkDiscriminator(
  schemas: Schemas,
  schema: Json,
  pointer: string,
  report: Report,
): void {
  const { tree } = schemas;
  const discriminator = asObject(schema.discriminator);
  const { propertyName: name } = discriminator;
  const mapping = asObject(discriminator.mapping);
  const place = `${pointer}/discriminator`;
  const union = schema.oneOf ?? schema.anyOf;
  checkTargets(tree.root, discriminator, union, place, report);
  if (typeof name !== 'string') return;

  const isBase = union === undefined;
  const parts = isBase
    ? childrenOf(tree, schema, mapping)
    : asArray(union).map((part) => tree.schemaOf(part));
  if (parts.length === 0) return;
  const tag = isBase ? tagOfBase(tree, schema) : tagOfUnion(tree, parts, discriminator);

  // Other parts of an `allOf` may declare the property.
  const whole = tree.schemaOf(valueAt(tree.root, pointer.replace(/(\/allOf\/\d+)+$/, '')));
  const { names, namePatterns } = schemas.outline(whole, ...parts);
  if (!names.has(name) && namePatterns.length === 0) {
    const effect = tag ? 'objects without it are rejected' : 'the discriminator is ignored';
    const similar = similarName(name, [...names]);
    const advice = similar === undefined ? '' : `. Use ${similar}`;
    const message = `the schema has no property ${name}: ${effect}${advice}`;
    report.notice(`${place}/propertyName`, message);
    return;
  }
  if (tag === undefined)
    report.notice(place, 'the discriminator is ignored: its values do not select one schema each');
}

/** Reports targets that do not exist, or that are not alternatives of the union. */
function checkTargets(
  root: Json,
  { mapping, defaultMapping }: Json,
  union: unknown,
  place: string,
  { notice }: Report,
): void {
  const targets = entriesOf(mapping).map(([value, target]): [string, unknown] => [
    `mapping/${escapePointerToken(value)}`,
    target,
  ]);
  if (defaultMapping !== undefined) targets.push(['defaultMapping', defaultMapping]);
  for (const [member, target] of targets) {
    const exists = String(target).startsWith('#') && valueAt(root, String(target)) !== undefined;
    const isUsed =
      union === undefined || asArray(union).some((part) => asObject(part).$ref === target);
    if (exists && isUsed) continue;
    const reason = exists ? 'is not an alternative' : 'does not exist';
    notice(`${place}/${member}`, `the mapping is ignored, since the schema ${target} ${reason}`);
  }
}
