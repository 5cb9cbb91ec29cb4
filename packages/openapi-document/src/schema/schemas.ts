import { type Json, onFirstUse, valueAt } from '../source/document.ts';
import { type Annotations, annotationsOf } from './annotations.ts';
import type { Formats } from './formats.ts';
import type { Context, SchemaSet } from './model.ts';
import { createOutlines, type Outline } from './outline.ts';
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

/** The schemas of a document. A place is a JSON pointer, or a Schema Object. */
export class Schemas {
  readonly tree: SchemaTree;
  readonly #contextOf: (view: View) => Context;
  readonly #outlineOf: (schemas: readonly Json[]) => Outline;

  /** @param root the bundled document: each `$ref` points into it. */
  constructor(root: Json, { formats }: SchemasOptions = {}) {
    const tree = new SchemaTree(root, formats);
    this.tree = tree;
    this.#contextOf = onFirstUse((view) => createContext(tree, view));
    this.#outlineOf = createOutlines(this.#contextOf('request'));
  }

  /** The document. */
  get root(): Json {
    return this.tree.root;
  }

  /** Returns the schema of a place, as a view reads it. */
  at(place: unknown, view: View): Schema {
    return new Schema(this.#setAt(place, view));
  }

  /** Returns all schemas that may apply to a value that any of the places may describe. */
  outline(...places: readonly unknown[]): Outline {
    return this.#outlineOf(places.map((place) => this.#schemaAt(place)));
  }

  /** Returns the shape of a value, see {@link Shapes.of}. */
  shape(place: unknown, view: View, form?: Json): Shape {
    return new Shapes(this.#contextOf(view)).of([this.#schemaAt(place)], form);
  }

  annotations(place: unknown, view: View): Annotations {
    return annotationsOf(this.#setAt(place, view));
  }

  /** Returns the shape and the annotations of a schema that others refer to. */
  definition(schema: Json, view: View): Described {
    const shape = new Shapes(this.#contextOf(view)).ofDefinition(schema);
    return { shape, annotations: this.annotations(schema, view) };
  }

  #setAt(place: unknown, view: View): SchemaSet {
    return this.#contextOf(view).setOf([this.#schemaAt(place)]);
  }

  #schemaAt(place: unknown): Json {
    return this.tree.schemaOf(this.#sourceAt(place));
  }

  #sourceAt(place: unknown): unknown {
    return typeof place === 'string' ? valueAt(this.root, place) : place;
  }
}

interface Described {
  readonly shape: Shape;
  readonly annotations: Annotations;
}

function createContext(tree: SchemaTree, view: View): Context {
  const counter = new SelectionCounter();
  const single = new Map<Json, JoinedSchemas>();
  const joined = new Map<string, JoinedSchemas>();
  const context = { tree, view, setOf };
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
