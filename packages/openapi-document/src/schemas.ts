// What can be asked of the Schema Objects of a document.
export { knownFormat, misfitOf } from './checks/fits.ts';
export { unionOf } from './document/discriminator.ts';
export { SUBSCHEMAS } from './document/kinds.ts';
export { isFile } from './document/media-types.ts';
export {
  allOfSchemas as allOf,
  alternatives,
  eachSchema as each,
  isWide,
  itemSchemas as ofItem,
  patternEngine,
  propertySchemas as ofProperty,
  safeLength,
} from './document/schema.ts';
