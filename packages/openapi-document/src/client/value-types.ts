type JsonEssence = 'application/json' | `application/${string}+json` | 'text/json';
export type JsonType = JsonEssence | `${JsonEssence};${string}`;
/**
 * The media types whose bodies are values. A module that defines a codec adds its media type.
 *
 * @example
 * declare module 'openapi-document/client' {
 *   interface ValueTypes { cbor: 'application/cbor' }
 * }
 */
export interface ValueTypes {
  readonly json: JsonType;
}
export type ValueType = ValueTypes[keyof ValueTypes];
