export { checkDocument } from './checks/check.ts';
export { checkExamples } from './checks/check-examples.ts';
export { checkVerifiers } from './checks/check-security.ts';
export { defaultFits } from './checks/fits.ts';
export { type Union, unionOf } from './document/discriminator.ts';
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
export { knownFormat } from './document/formats.ts';
export { loadDocument } from './document/load.ts';
export { essenceOf, isFile, kindOf, type MediaType, mediaTypeFor, parametersOfType } from './document/media-types.ts';
export {
  type DeclaredResponse,
  declaredFor,
  METHODS,
  type Operation,
  operationsOf,
  type Parameter,
  type SecurityRequirement,
  securitySchemesOf,
} from './document/operations.ts';
export { type PathTemplate, pathTemplate } from './document/path-template.ts';
export { describeFindings, locationsOf, positionsOf } from './document/positions.ts';
export { isData } from './document/references.ts';
export {
  allOfSchemas,
  alternatives,
  eachSchema,
  itemSchemas,
  LIST,
  MAP,
  ONE,
  patternEngine,
  patternOf,
  propertySchemas,
  typesOf,
} from './document/schema.ts';
export { basePathsOf } from './document/servers.ts';
export { Inexact, MAX_DEPTH, nestsTooDeep, parseJson, parseNumber, stringifyJson } from './json/exact.ts';
export { coerce } from './parameters/coerce.ts';
export { formReader } from './parameters/form-reader.ts';
export { cookiesOf, pairsOf } from './parameters/pairs.ts';
export { parameterReader, readParameter } from './parameters/parameter-reader.ts';
export { writeParameter } from './parameters/write-parameter.ts';
export { exampleLine, TOKEN_PLACEHOLDER, withToken } from './samples/example.ts';
export { type Example, examplesOf } from './samples/examples.ts';
