export { checkDocument } from './checks/check.ts';
export { checkExamples } from './checks/fits.ts';
export { similarName } from './checks/similar-name.ts';
export {
  allBytes,
  type BodyFormat,
  type Codec,
  type Coder,
  type FormCoder,
  type FormStorage,
  type ItemsCoder,
  isReadAtOnce,
  isSentAsItIs,
  type Message,
  readAtOnce,
  type TextCoder,
  UnreadableBody,
  type ValueCoder,
} from './codecs/codec.ts';
export { Codecs } from './codecs/codecs.ts';
export { parseJson, stringifyJson } from './json/exact.ts';
export { bodyLimitOf, parseSize } from './operations/body-limit.ts';
export { declaredFor } from './operations/declared-for.ts';
export { deprecationOf } from './operations/deprecation.ts';
export { type Document, type DocumentSource, loadDocument } from './operations/load.ts';
export type { Example, MediaType } from './operations/media.ts';
export {
  type DeclaredResponse,
  mediaTypesOf,
  type Operation,
  type Parameter,
} from './operations/operations.ts';
export { basePathsOf } from './operations/servers.ts';
export {
  formField,
  readFields,
  readParameter,
  writeForm,
  writeParameter,
} from './parameters/forms.ts';
export { parameterReader } from './parameters/parameter-reader.ts';
export { ParameterError } from './parameters/read-value.ts';
export { cookiesOf } from './parameters/texts.ts';
export type { Annotations } from './schema/annotations.ts';
export { type Budget, BudgetExceeded } from './schema/budget.ts';
export { namedTypes } from './schema/facts.ts';
export type { Formats, TypedFormat } from './schema/formats.ts';
export { typeNames } from './schema/json-types.ts';
export { DEFAULT_STEPS, MAX_VIOLATIONS, type Violation } from './schema/model.ts';
export type { Outline } from './schema/outline.ts';
export type { CheckResult, Schema } from './schema/schema.ts';
export { Schemas } from './schema/schemas.ts';
export type { Definition, Shape } from './schema/shape.ts';
export { temporalFormats } from './schema/temporal-formats.ts';
export type { View } from './schema/tree.ts';
export {
  asArray,
  asObject,
  DocumentError,
  decoded,
  escapePointerToken,
  type Finding,
  freeName,
  isObject,
  type Json,
  mapMembers,
  onFirstUse,
  pointerTokens,
  refTo,
  resolveRef,
  valueAt,
} from './source/document.ts';
export { SUBSCHEMAS } from './source/keywords.ts';
export { walk } from './source/kinds.ts';
export {
  charsetOf,
  concreteType,
  isJsonType,
  isRange,
  mediaTypeFor,
} from './source/media-types.ts';
export {
  matchPath,
  matchSegment,
  type PathSegment,
  type PathTemplate,
  pathTemplate,
  writePath,
} from './source/path-template.ts';
