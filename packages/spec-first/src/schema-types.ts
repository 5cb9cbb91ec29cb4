import {
  type Annotations,
  asObject,
  type Definition,
  escapePointerToken,
  type Json,
  refTo,
  type Schemas,
  type Shape,
  type View,
} from 'openapi-document';
import { aliasMaker } from './type-names.ts';
import { typeText, type Values } from './type-text.ts';

/** The requests and the responses of a service. It also sends the requests of webhooks. */
export type Direction = Extract<View, 'request' | 'response'>;

/** A schema of an operation. */
export interface Use {
  readonly schema: unknown;
  readonly direction: Direction;
  /** The Encoding Objects, if it is the schema of a form with files. */
  readonly form?: Json | undefined;
}

/** A definition as one direction reads it. */
interface Variant {
  readonly definition: Definition;
  readonly direction: Direction;
  readonly shape: Shape;
  readonly annotations: Annotations;
}

/** The name of a variant in the generated file. */
interface NamedVariant extends Variant {
  readonly alias: string;
  /** True if the type has a parameter for the form of its values. */
  readonly isGeneric: boolean;
}

/** A type of the generated file. */
interface Declaration {
  readonly declaration: string;
  readonly annotations: Annotations;
  readonly definition: Definition;
}

/** The types of a definition. `writable` is undefined if requests have the same type. */
interface NamedTypes {
  readonly base: NamedVariant;
  readonly writable: NamedVariant | undefined;
}

/**
 * Returns a function that makes types of schemas, and the named types that these refer to.
 *
 * - A definition that differs in requests has a second type with the suffix `Writable`.
 * - A definition that is sent and has dates or lists has the type parameter `V`. So one type serves
 *   for received values and for values to send, which may be `Date` objects and readonly lists.
 *
 * @param isServer true for a server, which sends responses and fills in defaults of requests. A
 *   client sends requests.
 */
export function schemaTypes(schemas: Schemas, uses: readonly Use[], isServer: boolean) {
  const sending: Direction = isServer ? 'response' : 'request';
  const variants = { request: new Map<Json, Variant>(), response: new Map<Json, Variant>() };
  const { request: requests, response: responses } = variants;
  const shapeOf = ({ schema = true, direction, form }: Use) =>
    schemas.shape(schema, direction, form);

  for (const use of uses) addReferences(shapeOf(use), use.direction);
  const sent = [...variants[sending].values()];
  const names = Object.keys(asObject(asObject(schemas.tree.root.components).schemas));
  const components = names.map((name) => {
    const $ref = refTo(`/components/schemas/${escapePointerToken(name)}`);
    const shape = schemas.shape({ $ref }, 'response');
    const isRequested = referencesIn(shape).some(({ schema }) => requests.has(schema));
    if (!isRequested) addReferences(shape, 'response');
    return { name, shape };
  });
  const all = [...requests.values(), ...responses.values()];
  const differing = propagated(all, ({ definition: { schema } }) => {
    const [request, response] = [requests.get(schema), responses.get(schema)];
    return (
      request !== undefined && response !== undefined && bareText(request) !== bareText(response)
    );
  });
  const varying = propagated(sent, ({ shape }) => hasValues(shape));
  const varies = (shape: Shape) =>
    hasValues(shape) || referencesIn(shape).some(({ schema }) => varying.has(schema));
  const newAlias = aliasMaker();
  const named = namedTypes();

  return {
    /** @param values the form of the values, if the schema is sent. */
    typeOf: (use: Use, values: Values): string =>
      textOf(shapeOf(use), use.direction, use.direction === sending ? values : 'received'),
    components: components.map(({ name, shape }) => ({
      name,
      type: textOf(shape, 'response', 'received'),
    })),
    types: [...named.values()].flatMap(({ base, writable }) => [
      ...declared(base),
      ...(writable === undefined ? [] : declared(writable)),
    ]),
  };

  function addReferences(shape: Shape, direction: Direction): void {
    const pending = referencesIn(shape);
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { schema } = next;
      if (variants[direction].has(schema)) continue;
      const variant = { definition: next, direction, ...schemas.definition(schema, direction) };
      variants[direction].set(schema, variant);
      pending.push(...referencesIn(variant.shape).toReversed());
    }
  }

  function namedTypes(): Map<Json, NamedTypes> {
    const inOrder = [
      ...components.flatMap(({ shape }) => referencesIn(shape)),
      ...all.map(({ definition }) => definition),
    ];
    const definitions = new Set(inOrder.map(({ schema }) => schema));
    const named = (variant: Variant, alias: string, isSent: boolean): NamedVariant => ({
      ...variant,
      alias,
      isGeneric: isSent && varying.has(variant.definition.schema),
    });
    const bases = [...definitions].flatMap((schema) => {
      const variant = responses.get(schema) ?? requests.get(schema);
      if (variant === undefined) return [];
      const isSent = variant.direction === sending || !differing.has(schema);
      return named(variant, newAlias(variant.definition.name), isSent);
    });
    return new Map(
      bases.map((base) => {
        const { schema, name } = base.definition;
        const request =
          base.direction === 'response' && differing.has(schema) && requests.get(schema);
        const writable = request
          ? named(request, newAlias(`${name}Writable`), sending === 'request')
          : undefined;
        return [schema, { base, writable }];
      }),
    );
  }

  function nameOf({ schema }: Definition, direction: Direction, values: Values): string {
    const types = named.get(schema);
    const type = direction === 'request' ? (types?.writable ?? types?.base) : types?.base;
    if (type === undefined) return 'unknown';
    if (values === 'received' || !type.isGeneric) return type.alias;
    return `${type.alias}<${values === 'sent' ? 'Sent' : 'V'}>`;
  }

  function textOf(shape: Shape, direction: Direction, values: Values): string {
    return typeText(shape, {
      ...optionsFor(direction),
      values,
      nameOf: (definition) => nameOf(definition, direction, values),
    });
  }

  /** Returns the text of a type without comments, in which names stand for any variant. */
  function bareText({ shape, direction }: Variant): string {
    const nameOfSchema = ({ schema }: Definition) => `#${schemas.tree.idOf(schema)}`;
    const options = { values: 'received', nameOf: nameOfSchema, hasComments: false } as const;
    return typeText(shape, { ...optionsFor(direction), ...options });
  }

  function optionsFor(direction: Direction) {
    const isRequest = direction === 'request';
    const file = isRequest ? 'File' : 'Blob';
    return { fillsDefaults: isServer && isRequest, file, hasComments: true } as const;
  }

  /** Returns the declaration of a type, and those of its parts that need names. */
  function declared(variant: NamedVariant): Declaration[] {
    const { alias, definition, direction, annotations, isGeneric } = variant;
    const declarations: Declaration[] = [];
    const shape = withoutCycles(variant);
    const isObject = shape.kind === 'object';
    const withNames = (part: Shape): Shape =>
      part.kind === 'object' && varies(part) ? namedPart(part) : mapParts(part, withNames);
    // TypeScript allows `out` for object types only. It prevents a comparison of all members.
    const parameter = isGeneric ? `<${isObject ? 'out ' : ''}V extends Sent = Received>` : '';
    const type = textOf(
      isGeneric && !isObject ? withNames(shape) : shape,
      direction,
      isGeneric ? 'generic' : 'received',
    );
    declarations.unshift({
      declaration: `${alias}${parameter} = ${type}`,
      annotations,
      definition,
    });
    return declarations;

    function namedPart(part: Shape): Shape {
      const to = { ...definition, schema: {} };
      const base = { ...variant, definition: to, shape: part, alias: newAlias(`${alias}Part`) };
      declarations.push(...declared({ ...base, annotations: {} }));
      named.set(to.schema, { base, writable: undefined });
      return { kind: 'reference', to };
    }
  }

  /** Replaces the references by which a union or an intersection would contain itself. */
  function withoutCycles({ definition, direction, shape }: Variant): Shape {
    const containsItself = ({ schema }: Definition) => {
      const reached = new Set([schema]);
      for (const next of reached) {
        const inner = variants[direction].get(next);
        for (const reference of inner ? referencesInPlace(inner.shape) : [])
          reached.add(reference.schema);
      }
      return reached.has(definition.schema);
    };
    const cut = (part: Shape): Shape => {
      if (part.kind === 'reference') return containsItself(part.to) ? { kind: 'any' } : part;
      return mapParts(part, cut);
    };
    return cut(shape);
  }
}

/** Replaces the parts of a union or an intersection. */
function mapParts(shape: Shape, replace: (part: Shape) => Shape): Shape {
  if (shape.kind === 'tagged') return { ...shape, parts: [replace(shape.parts[0])] };
  return 'parts' in shape ? { ...shape, parts: shape.parts.map(replace) } : shape;
}

/** Lists the schemas of the variants with a property, and of those that refer to them. */
function propagated(
  variants: readonly Variant[],
  hasProperty: (variant: Variant) => boolean,
): ReadonlySet<Json> {
  const users = new Map<Json, Set<Json>>();
  for (const { definition, shape } of variants) {
    for (const { schema } of referencesIn(shape)) {
      const usersOfSchema = users.get(schema) ?? new Set();
      users.set(schema, usersOfSchema.add(definition.schema));
    }
  }
  const found = new Set(variants.filter(hasProperty).map(({ definition }) => definition.schema));
  for (const schema of found) for (const user of users.get(schema) ?? []) found.add(user);
  return found;
}

/** True if a shape has dates or lists, whose types depend on their values. */
const hasValues = (shape: Shape): boolean =>
  shape.kind === 'array' ||
  (shape.kind === 'scalar' && shape.type === 'date') ||
  partsOf(shape).some(hasValues);

/** Lists the references in a shape. */
const referencesIn = (shape: Shape): Definition[] =>
  shape.kind === 'reference' ? [shape.to] : partsOf(shape).flatMap(referencesIn);

/** Lists the references to types of the same value. */
const referencesInPlace = (shape: Shape): Definition[] =>
  shape.kind === 'array' || shape.kind === 'object'
    ? []
    : shape.kind === 'reference'
      ? [shape.to]
      : partsOf(shape).flatMap(referencesInPlace);

function partsOf(shape: Shape): readonly Shape[] {
  switch (shape.kind) {
    case 'array':
      return shape.rest === undefined ? shape.items : [...shape.items, shape.rest];
    case 'object':
      return [...shape.members.map((member) => member.shape), ...shape.others];
    case 'union':
    case 'intersection':
    case 'tagged':
      return shape.parts;
    default:
      return [];
  }
}
