import { asArray, type Json } from '../source/document.ts';
import { isExact } from './numbers.ts';

/** Facts that several schemas of one value state, each in its own keywords. */
export abstract class Facts {
  protected abstract readonly schemas: readonly Json[];

  /** The lists of values in `enum` and `const`. */
  protected get constantLists(): readonly (readonly unknown[])[] {
    return this.schemas.flatMap((schema) => [
      ...(Array.isArray(schema.enum) ? [schema.enum] : []),
      ...(Object.hasOwn(schema, 'const') ? [[schema.const]] : []),
    ]);
  }

  /** The examples of the schema itself (JSON Schema 2020-12, Validation §9.5). */
  get examples(): readonly unknown[] {
    return this.schemas.flatMap((schema) => [
      ...(Object.hasOwn(schema, 'example') ? [schema.example] : []),
      ...asArray(schema.examples),
    ]);
  }

  get formats(): readonly string[] {
    return this.schemas.flatMap(({ format }) => (typeof format === 'string' ? [format] : []));
  }

  get patterns(): readonly string[] {
    return this.schemas.flatMap(({ pattern }) => (typeof pattern === 'string' ? [pattern] : []));
  }

  get hasDistinctItems(): boolean {
    return this.schemas.some(({ uniqueItems }) => uniqueItems === true);
  }

  /** Lists the limits of a keyword with a number, such as `maximum` or `minItems`. */
  limits(keyword: LimitKeyword): readonly (number | bigint)[] {
    return this.schemas.flatMap((schema) => {
      const limit = schema[keyword];
      return isExact(limit) ? [limit] : [];
    });
  }
}

export type LimitKeyword =
  | 'minimum'
  | 'maximum'
  | 'exclusiveMinimum'
  | 'exclusiveMaximum'
  | 'multipleOf'
  | 'minLength'
  | 'maxLength'
  | 'minItems'
  | 'maxItems'
  | 'minContains'
  | 'maxContains'
  | 'minProperties'
  | 'maxProperties';
