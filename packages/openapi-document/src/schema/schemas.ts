import { type Json, valueAt } from '../source/document.ts';
import { type Annotations, annotationsOf } from './annotations.ts';
import { createFormats, type Formats } from './formats.ts';

import type { Context } from './model.ts';
import { Outline } from './outline.ts';
import { Schema } from './schema.ts';
import { JoinedSchemas, SelectionCounter } from './set.ts';
import { type Shape, Shapes } from './shape.ts';
import { SchemaTree, type View } from './tree.ts';

export interface SchemasOptions {
  /** Formats besides those of OpenAPI and JSON Schema, and formats whose values have a type. */
  readonly formats?: Formats | undefined;
}

/** Limits the memory: clients choose the combinations of alternatives and name patterns. */
const MAX_JOINED = 4_000;

const NO_NAMES: ReadonlySet<string> = new Set();

/** The schemas of a document. */
export type Schemas = ReturnType<typeof createSchemas>;

/** Creates the schemas of a bundled document: each `$ref` points into `root`. */
export function createSchemas(root: Json, { formats }: SchemasOptions = {}) {
  const formatOf = createFormats(formats);
  const formatTest = (name: string) => {
    const format = formatOf(name);
    return format?.type === 'string' ? format.test : undefined;
  };
  const hasTypes = Object.values(formats ?? {}).some((format) => typeof format === 'object');
  const typedFormat = hasTypes ? (name: string) => formatOf(name)?.typed : undefined;
  const tree = new SchemaTree(root);
  const contexts = new Map<View, Context>();
  const contextOf = (view: View): Context => {
    const existing = contexts.get(view);
    if (existing !== undefined) return existing;
    const context = createContext({ tree, view, formatTest, typedFormat });
    contexts.set(view, context);
    return context;
  };
  const sourceAt = (place: unknown): unknown =>
    typeof place === 'string' ? valueAt(root, place) : place;
  const schemaAt = (place: unknown): Json => tree.schemaOf(sourceAt(place));
  return {
    tree,
    /** Returns the schema at a JSON pointer, or a Schema Object as a schema. */
    at: (place: unknown, view: View): Schema =>
      new Schema(contextOf(view).setOf([schemaAt(place)])),
    /** Returns false for a format that is not checked, since nobody knows it. */
    knowsFormat: (format: string): boolean => formatOf(format) !== undefined,
    outline: (place: unknown): Outline => new Outline(tree, sourceAt(place)),
    /** Returns the shape of a value, see {@link Shapes.of}. */
    shape: (place: unknown, view: View, form?: Json): Shape =>
      new Shapes(contextOf(view)).of([schemaAt(place)], form),
    annotations: (place: unknown, view: View): Annotations =>
      annotationsOf(contextOf(view).setOf([schemaAt(place)])),
    /** Returns the shape and the annotations of a schema that others refer to. */
    definition(schema: Json, view: View) {
      const context = contextOf(view);
      const shape = new Shapes(context).ofDefinition(schema);
      return { shape, annotations: annotationsOf(context.setOf([schema])) };
    },
  };
}

function createContext(facts: Omit<Context, 'setOf'>): Context {
  const { tree } = facts;
  const counter = new SelectionCounter();
  const single = new Map<Json, JoinedSchemas>();
  const joined = new Map<string, JoinedSchemas>();
  const context = { ...facts, setOf };
  return context;

  function setOf(schemas: readonly Json[], hidden = NO_NAMES): JoinedSchemas {
    const [schema] = schemas;
    if (schema !== undefined && schemas.length === 1 && hidden.size === 0) {
      const known = single.get(schema);
      if (known !== undefined) return known;
      const set = JoinedSchemas.of(context, counter, schemas, hidden);
      single.set(schema, set);
      return set;
    }
    const key = `${schemas.map((part) => tree.idOf(part)).join()} ${[...hidden].join('\0')}`;
    const known = joined.get(key);
    if (known !== undefined) return known;
    const set = JoinedSchemas.of(context, counter, schemas, hidden);
    if (joined.size >= MAX_JOINED) joined.clear();
    joined.set(key, set);
    return set;
  }
}
