// Functions and types for the Schema Objects of a document.
export { addDefinitions } from './checks/ajv-definitions.ts';
export { misfitOf } from './checks/fits.ts';
export type { Tag } from './document/discriminator.ts';
export {
  type Direction,
  definitionName,
  type LoweredSchema,
  type LoweredSchemas,
  reachedFrom,
} from './document/lower.ts';
export {
  allOfSchemas as allOf,
  alternatives,
  finderIn,
  isWide,
  itemSchemas as ofItem,
  itemsIn,
  patternDegree,
  patternEngine,
  propertySchemas as ofProperty,
  typesOf,
} from './document/schema.ts';
export { lowerSchemas as lower } from './lowered.ts';
export { mapKeyword, SUBSCHEMAS } from './schema/keywords.ts';
