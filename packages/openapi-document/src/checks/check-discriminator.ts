import {
  childrenOf,
  constantsIn,
  refOf,
  selectingValues,
  type Tag,
  tagOf,
  tagOfParent,
} from '../document/discriminator.ts';
import {
  asArray,
  asObject,
  escapePointerToken,
  type Json,
  refTo,
  valueAt,
} from '../document/document.ts';
import { alternatives } from '../document/schema.ts';
import { declares } from './check-names.ts';
import type { Report } from './check-structure.ts';
import { similarName } from './similar-name.ts';

/** Reports values that a discriminator requires but no object can have, and ignored members. */
export function checkDiscriminator(
  root: Json,
  schema: Json,
  pointer: string,
  report: Report,
): void {
  const discriminator = asObject(schema.discriminator);
  const { propertyName: name, 'x-selects': selects } = discriminator;
  const mapping = asObject(discriminator.mapping);
  const place = `${pointer}/discriminator`;
  const union = schema.oneOf ?? schema.anyOf;
  checkTargets(root, discriminator, union, place, report);
  if (typeof name !== 'string' || selects === false) return;

  const ref = refTo(pointer);
  const children = childrenOf(root, ref, mapping).map((child) => ({ $ref: child }));
  const parts = union === undefined ? children : asArray(union);
  if (parts.length === 0) return;
  const tag = union === undefined ? tagOfParent(root, ref) : tagOf(root, parts, discriminator);

  // Other parts of an `allOf` may declare the property.
  const whole = valueAt(root, pointer.replace(/(\/allOf\/\d+)+$/, ''));
  const schemas = [whole, ...parts].flatMap((part) => alternatives(root, part));
  if (!schemas.some((part) => declares(part, name))) {
    const names = schemas.flatMap(({ properties }) => Object.keys(asObject(properties)));
    const effect = tag ? 'objects without it are rejected' : 'the discriminator is ignored';
    const message = `the schema has no property ${name}: ${effect}${suggestion(name, names)}`;
    report.notice(`${place}/propertyName`, message);
    return;
  }
  checkMapping(root, name, mapping, place, report);
  if (tag === undefined) checkDistinct(root, name, mapping, parts, place, report);
  else if (tag.isMapped) checkNamesAsValues(root, tag, mapping, parts, place, report);
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
  const targets = Object.entries(asObject(mapping)).map(([value, target]): [string, unknown] => [
    `mapping/${escapePointerToken(value)}`,
    target,
  ]);
  if (defaultMapping !== undefined) targets.push(['defaultMapping', defaultMapping]);
  for (const [member, target] of targets) {
    const exists = String(target).startsWith('#') && valueAt(root, String(target)) !== undefined;
    const isUsed = union === undefined || asArray(union).some((part) => refOf(part) === target);
    if (exists && isUsed) continue;
    const reason = exists ? 'is not an alternative' : 'does not exist';
    notice(`${place}/${member}`, `the mapping is ignored, since the schema ${target} ${reason}`);
  }
}

/** Reports values of the mapping that their schema does not allow. */
function checkMapping(
  root: Json,
  name: string,
  mapping: Json,
  place: string,
  { notice }: Report,
): void {
  for (const [value, target] of Object.entries(mapping)) {
    const constants = constantsIn(root, { $ref: target }, name).map(String);
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
  root: Json,
  { name, values }: Tag,
  mapping: Json,
  parts: readonly unknown[],
  place: string,
  { notice }: Report,
): void {
  for (const [index, part] of parts.entries()) {
    const constants = constantsIn(root, part, name);
    if (constants.length === 0) continue;
    for (const value of asArray(values[index]).map(String)) {
      if (constants.includes(value) || Object.hasOwn(mapping, value)) continue;
      const reason = `${refOf(part)} has no mapping and does not allow ${value} as ${name}`;
      notice(place, `no object is valid: ${reason}`);
    }
  }
}

/** Reports the first value that several alternatives have. */
function checkDistinct(
  root: Json,
  name: string,
  mapping: Json,
  parts: readonly unknown[],
  place: string,
  { notice }: Report,
): void {
  const values = parts.flatMap((part) =>
    refOf(part) === undefined
      ? constantsIn(root, part, name)
      : selectingValues(root, part, name, mapping),
  );
  const repeated = values.find((value, index) => values.indexOf(value) < index);
  if (repeated === undefined) return;
  const reason = `several alternatives have the same ${name}: ${repeated}`;
  notice(place, `the discriminator is ignored, since ${reason}`);
}
