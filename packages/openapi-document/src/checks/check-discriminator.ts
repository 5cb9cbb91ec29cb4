import {
  childrenOf,
  constantsOf,
  selectingValues,
  tagOfBase,
  tagOfUnion,
} from '../schema/discriminator.ts';
import type { Schemas } from '../schema/schemas.ts';
import type { Tag } from '../schema/tag.ts';
import type { SchemaTree } from '../schema/tree.ts';
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

/** Reports values that a discriminator requires but no object can have, and ignored members. */
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
    const message = `the schema has no property ${name}: ${effect}${suggestion(name, [...names])}`;
    report.notice(`${place}/propertyName`, message);
    return;
  }
  checkMapping(tree, name, mapping, place, report);
  if (tag === undefined) checkDistinct(tree, name, mapping, parts, isBase, place, report);
  else checkNamesAsValues(tree, tag, mapping, place, report);
}

const suggestion = (name: string, names: readonly string[]): string => {
  const similar = similarName(name, names);
  return similar === undefined ? '' : `. Use ${similar}`;
};

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

/** Reports values of the mapping that their schema does not allow. */
function checkMapping(
  tree: SchemaTree,
  name: string,
  mapping: Json,
  place: string,
  { notice }: Report,
): void {
  for (const [value, target] of Object.entries(mapping)) {
    const constants = constantsOf(tree, tree.resolve(String(target)), name).map(String);
    if (constants.length === 0 || constants.includes(value)) continue;
    const reason = `${target} does not allow ${value} as ${name}`;
    notice(
      `${place}/mapping/${escapePointerToken(value)}`,
      `no object with this value is valid: ${reason}${suggestion(value, constants)}`,
    );
  }
}

/** Reports schemas without a mapping that do not allow their own name as the value. */
function checkNamesAsValues(
  tree: SchemaTree,
  { name, values }: Tag,
  mapping: Json,
  place: string,
  { notice }: Report,
): void {
  for (const [value, schema] of values) {
    const constants = constantsOf(tree, schema, name);
    const isAllowed = constants.length === 0 || constants.includes(value);
    if (isAllowed || Object.hasOwn(mapping, String(value))) continue;
    const subject = schema.$ref ?? tree.componentNames.get(schema);
    const reason = `${subject} has no mapping and does not allow ${value} as ${name}`;
    notice(place, `no object is valid: ${reason}`);
  }
}

/** Reports the first value that several alternatives have. */
function checkDistinct(
  tree: SchemaTree,
  name: string,
  mapping: Json,
  parts: readonly Json[],
  isBase: boolean,
  place: string,
  { notice }: Report,
): void {
  const values = parts.flatMap((part) =>
    isBase || part.$ref !== undefined
      ? selectingValues(tree, part, name, mapping)
      : constantsOf(tree, part, name),
  );
  const repeated = values.find((value, index) => values.indexOf(value) < index);
  if (repeated === undefined) return;
  const reason = `several alternatives have the same ${name}: ${repeated}`;
  notice(place, `the discriminator is ignored, since ${reason}`);
}
