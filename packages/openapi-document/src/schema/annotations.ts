import { asArray, type Json } from '../source/document.ts';
import { NUMBER_LIMITS } from '../source/keywords.ts';
import { Facts } from './facts.ts';
import type { SchemaSet } from './model.ts';
import { Schema } from './schema.ts';

/** The parts of a schema that people read. */
export interface Annotations {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly isDeprecated?: boolean | undefined;
  /** Constraints that a type does not express, by keyword, such as `maxLength`. */
  readonly limits?: readonly (readonly [keyword: string, limit: unknown])[];
  readonly default?: { readonly value: unknown } | undefined;
  readonly examples?: readonly unknown[] | undefined;
}

const LIMITS = [
  ...NUMBER_LIMITS,
  ...(['minItems', 'maxItems', 'minProperties', 'maxProperties'] as const),
];

/**
 * Returns the annotations of a place. The title and the description of a referenced schema are not
 * repeated, but its constraints are.
 */
export function annotationsOf(set: SchemaSet): Annotations {
  const { tree } = set.context;
  const schema = new Schema(set);
  const own = set.roots.flatMap((root): Json[] => [
    root,
    ...asArray(root.allOf).map((part) => tree.schemaOf(part)),
  ]);
  const text = (key: string) =>
    own.map((part) => part[key]).find((value) => typeof value === 'string');
  const { min, max } = schema.sizes('Length');
  const limits: (readonly [string, unknown])[] = [
    ...schema.formats.map((format) => ['format', format] as const),
    ...(min > 0 ? [['minLength', min] as const] : []),
    ...(max < Number.POSITIVE_INFINITY ? [['maxLength', max] as const] : []),
    ...schema.patterns.map((pattern) => ['pattern', pattern] as const),
    ...LIMITS.map((keyword) => [keyword, schema.limit(keyword)] as const),
    ...(schema.hasDistinctItems ? [['uniqueItems', true] as const] : []),
  ];
  return {
    title: text('title'),
    description: text('description'),
    isDeprecated: own.some(({ deprecated }) => deprecated === true),
    limits: limits.filter(([, limit]) => limit !== undefined),
    default: schema.default,
    examples: new Facts(own).examples,
  };
}
