import type { Json } from '../source/document.ts';

/** The member that selects one of several schemas (OpenAPI 3.1 §4.8.25). */
export interface Tag {
  readonly name: string;
  /** The schema that each value selects. */
  readonly values: ReadonlyMap<unknown, Json>;
  /** The schema that all other values select: `defaultMapping` (OpenAPI 3.2 §4.25). */
  readonly others: Json | undefined;
  /** True if `null` is allowed beside objects. */
  readonly allowsNull: boolean;
}
