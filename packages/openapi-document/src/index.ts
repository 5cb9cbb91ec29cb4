export { checkDocument } from './checks/check.ts';
export { defaultFits, knownFormat } from './checks/fits.ts';
export { unionOf } from './document/discriminator.ts';
export {
  asArray,
  asObject,
  type Document,
  DocumentError,
  decoded,
  escapePointerToken,
  type Finding,
  isObject,
  type Json,
  resolveRef,
  valueAt,
} from './document/document.ts';
export { SUBSCHEMAS } from './document/kinds.ts';
export { loadDocument } from './document/load.ts';
export { isFile, kindOf, type MediaType, mediaTypeFor } from './document/media-types.ts';
export {
  type DeclaredResponse,
  declaredFor,
  METHODS,
  type Operation,
  operationsOf,
  type Parameter,
  securitySchemesOf,
} from './document/operations.ts';
export { pathTemplate } from './document/path-template.ts';
export { describeFindings } from './document/positions.ts';
export {
  allOfSchemas,
  alternatives,
  eachSchema,
  itemSchemas,
  patternEngine,
  propertySchemas,
  safeLength,
} from './document/schema.ts';
export { basePathsOf } from './document/servers.ts';
export { webhooksOf } from './document/webhooks.ts';
export { parseJson, stringifyJson } from './json/exact.ts';
export { formReader } from './parameters/form-reader.ts';
export { parameterReader, readParameter } from './parameters/parameter-reader.ts';
export { coerce, cookiesOf } from './parameters/texts.ts';
export { writeParameter } from './parameters/write-parameter.ts';
export { examplesOf } from './samples/examples.ts';
export { readEventData, readItems, UnreadableItem } from './sequences/read-items.ts';
export { itemWriter } from './sequences/write-items.ts';
