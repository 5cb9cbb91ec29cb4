import { isDeepStrictEqual } from 'node:util';
import {
  asArray,
  asObject,
  type Document,
  isObject,
  type Json,
  namedTypes,
  type Operation,
  onFirstUse,
  type Parameter,
  resolveRef,
  SUBSCHEMAS,
  stringifyJson,
  typeNames,
  walk,
  writeParameter,
} from 'openapi-document';

export type Members = Readonly<Record<string, unknown>>;

/** A document, an operation, or an object inside it. */
export class Part {
  /** The object of the document. A component is one object for all operations. */
  readonly source: Json;
  readonly pointer: string;
  /** Returns what the part says in canonical form: values, parts, and maps of these by name. */
  readonly members: () => Members;
  /** True if the part around it requires it. */
  readonly isRequired: boolean;

  constructor(source: Json, pointer: string, members: () => Members, isRequired = false) {
    this.source = source;
    this.pointer = pointer;
    this.members = members;
    this.isRequired = isRequired;
  }
}

/** Keywords that restrict no value, or that are read in another way. */
const SKIPPED =
  /^(\$.*|allOf|title|description|examples?|externalDocs|xml|type|required|properties|x-.*)$/;

/** Marks a value that may also be null. */
const NULL: Json = { type: 'null' };

/** Reads what clients, and receivers of webhooks, depend on. */
export function documentPart(document: Document): Part {
  const { root, schemas, operations, webhooks, securitySchemes } = document;
  const { tree } = schemas;
  const pointers = new Map<Json, string>();
  walk(root, 'document', '', (object, _kind, pointer) => {
    if (!pointers.has(object)) pointers.set(object, pointer);
  });
  const joins = new Map<string, Json>();
  function operationPart(operation: Operation): Part {
    const { source, pointer, security, template, parameters, requestBody, responses } = operation;
    const { operationId, deprecated, 'x-sunset': sunset } = source;
    // Without requirements, no credentials are needed.
    const requirements = security.length === 0 ? [{}] : security;
    /** The names of path parameters do not matter. */
    const nameOf = ({ in: where, name }: Parameter) =>
      `${where} ${where === 'path' ? template.names.indexOf(name) + 1 : name}`;
    const place = source.security === undefined ? '/security' : pointer;
    const hasServers = isDeepStrictEqual(operation.basePaths, document.basePaths);
    const serverPlace = hasServers ? '/servers' : pointer;
    // The URLs of webhooks are not relative to a server.
    const basePaths = webhooks.includes(operation) ? [] : operation.basePaths;
    const members = () => ({
      operationId,
      deprecated: deprecated === true || undefined,
      'x-sunset': sunset,
      // The hosts are not compared, since a service may have several.
      'base path': mapOf(
        basePaths,
        (path) => path || '/',
        () => new Part({}, serverPlace, NOTHING),
      ),
      credentials: mapOf(requirements, credentialsText, (one) => new Part(one, place, NOTHING)),
      parameters: mapOf(parameters, nameOf, parameterPart),
      requestBody: requestBody && contentPart(requestBody.source),
      responses: mapOf(
        responses,
        ({ key }) => key,
        (one) => contentPart(one.source),
      ),
    });
    // YAML aliases may share the object.
    return new Part({ ...source }, pointer, members);
  }

  function parameterPart(parameter: Parameter): Part {
    const { source, required, outline, schema, style, json, media } = parameter;
    // A whole query that is neither JSON nor a form is one text.
    const isText = style === 'querystring' && !json && !/urlencoded/i.test(media?.type ?? '');
    const composite = outline.types.has('array') ? ['a', 'b'] : { a: 'b' };
    const isComposite = !isText && (outline.types.has('array') || outline.types.has('object'));
    const members = () => ({
      // Only some values depend on `style` and `explode`.
      serialization: writeParameter(
        { ...parameter, form: undefined },
        isComposite ? composite : 'a',
      ),
      schema: schemaPart(schema),
    });
    const pointer = pointers.get(source) ?? parameter.pointer;
    return new Part(source, pointer, members, required);
  }

  /** Reads a request body, a response, a header or a media type. */
  function contentPart(source: Json): Part {
    const { required, content, headers, schema, itemSchema, encoding, explode } = source;
    const members = () => ({
      explode: explode === true || undefined,
      content: contentsOf(content),
      headers: contentsOf(headers),
      schema: schemaPart(schema),
      itemSchema: schemaPart(itemSchema),
      encoding: mapOf(
        Object.entries(asObject(encoding)),
        ([name]) => name,
        ([, field]) => textOf(field),
      ),
      'x-body-limit': source['x-body-limit'],
    });
    return new Part(source, pointers.get(source) ?? '', members, required === true);
  }

  const contentsOf = (list: unknown): Map<string, Part> =>
    mapOf(
      Object.entries(asObject(list)),
      ([name]) => name.toLowerCase(),
      ([, value]) => contentPart(resolveRef(root, value) ?? {}),
    );

  const schemaAt = onFirstUse(
    (source: Json) => new Part(source, pointers.get(source) ?? '', () => keywordsOf(source)),
  );

  /** Reads a schema with its `$ref` and its `allOf`, so moving keywords there changes nothing. */
  function schemaPart(value: unknown): Part {
    return schemaAt(tree.target(tree.schemaOf(value)));
  }

  function keywordsOf(source: Json): Readonly<Record<string, unknown>> {
    const applied = appliedTo(source);
    const types = namedTypes(applied.filter((schema) => schema !== NULL));
    const orNull = applied.includes(NULL) ? ['null'] : [];
    const bases = schemas.at(source, 'example').unions.filter(({ isOfBase }) => isOfBase);
    const extensions = bases.flatMap((union) => union.alternatives);
    const byKeyword = Map.groupBy(applied.flatMap(entriesOf), ([keyword]) => keyword);
    const keywords = Object.fromEntries(
      [...byKeyword].map(([keyword, list]) => {
        const values = list.map(([, value]) => value);
        return [keyword, canonical(keyword, values)];
      }),
    );
    const declared = named(applied.map((schema) => schema.properties));
    const required = new Set(applied.flatMap((schema) => asArray(schema.required).map(String)));
    const names = [...new Set([...declared.keys(), ...required])];
    return {
      ...keywords,
      type: tree.isNothing(source)
        ? ['nothing']
        : types && [...new Set([...typeNames(types), ...orNull])].toSorted(),
      properties: mapOf(
        names,
        (name) => name,
        (name) => {
          const { source, pointer, members } = declared.get(name) ?? schemaPart(true);
          return new Part(source, pointer, members, required.has(name));
        },
      ),
      extensions: alternatives(extensions.filter((schema) => schema !== source)),
    };
  }

  /** Joins the values of a keyword in the schemas of one value. */
  function canonical(keyword: string, values: readonly unknown[]): unknown {
    const [value, ...others] = values;
    const { one, list } = SUBSCHEMAS;
    if (one.includes(keyword)) return values.includes(false) ? false : schemaPart(join(values));
    if (keyword === 'prefixItems') return named([{ ...values.flat() }]);
    if (list.includes(keyword)) return alternatives(values.flat());
    if (SUBSCHEMAS.named.includes(keyword)) return named(values);
    if (keyword === 'enum' || keyword === 'mapping') return byText(values.flat());
    const isLower = /^(min|exclusiveMin)/.test(keyword);
    return others.reduce(
      (limit, other) => (Number(other) > Number(limit) === isLower ? other : limit),
      value,
    );
  }

  function named(values: readonly unknown[]): Map<string, Part> {
    const members = values.flatMap((schemas) => Object.entries(asObject(schemas)));
    return mapOf(
      [...Map.groupBy(members, ([name]) => name)],
      ([name]) => name,
      ([, same]) => schemaPart(join(same.map(([, schema]) => schema))),
    );
  }

  function alternatives(schemas: readonly unknown[]): Map<string, Part> {
    const parts = schemas.map((value, index): [string, Part] => {
      const part = schemaPart(value);
      const { source } = part;
      const types = typeNames(namedTypes(appliedTo(source)) ?? 0).join(' or ');
      const title = String(source.title ?? `${index} ${types}`.trim());
      const name = tree.componentNames.get(source) ?? title;
      return [name, part];
    });
    return new Map(parts);
  }

  /** Returns one schema for several, such as those of a property in two parts of an `allOf`. */
  function join(values: readonly unknown[]): unknown {
    if (values.length === 1) return values[0];
    const allOf = values.map((value) => tree.schemaOf(value));
    const key = allOf.map((schema) => tree.idOf(schema)).join();
    const joined = joins.get(key) ?? { allOf };
    joins.set(key, joined);
    pointers.set(joined, allOf.map((schema) => pointers.get(schema)).find(Boolean) ?? '');
    return joined;
  }

  /** Lists the schemas that apply to a value. `anyOf: [A, null]` is read as `A` or null. */
  function appliedTo(source: Json, visited = new Set<Json>()): Json[] {
    return tree.applied(source).flatMap((schema): Json[] => {
      if (visited.has(schema)) return [];
      visited.add(schema);
      const union = ['anyOf', 'oneOf'].find((key) => besideNull(schema[key]) !== undefined);
      if (union === undefined) return [schema];
      const { [union]: list, ...others } = schema;
      return [others, ...appliedTo(besideNull(list) ?? {}, visited), NULL];
    });
  }

  return new Part(root, '', () => ({
    operations: mapOf([...operations, ...webhooks], keyOf, operationPart),
    'security scheme': mapOf(
      Object.entries(securitySchemes),
      ([key]) => key,
      ([, scheme]) => schemeText(scheme),
    ),
  }));
}

/** Returns the only alternative beside null. */
function besideNull(union: unknown): Json | undefined {
  const schemas = asArray(union).filter(isObject);
  const others = schemas.filter(({ type }) => type !== 'null');
  return others.length === 1 && others.length < schemas.length ? others[0] : undefined;
}

/** Lists the keywords that restrict values, in canonical form. */
const entriesOf = (schema: Json): [string, unknown][] =>
  Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (SKIPPED.test(keyword) || allowsAll(keyword, value)) return [];
    if (keyword === 'const') return [['enum', [value]]];
    if (keyword !== 'discriminator') return [[keyword, value]];
    const { propertyName, mapping } = asObject(value);
    const targets = Object.entries(asObject(mapping)).map(
      ([name, target]) => `${name}: ${String(target).replace(/^.*\//, '')}`,
    );
    return [
      ['discriminator', propertyName],
      ['mapping', targets],
    ];
  });

/** Returns true for a value that has the same effect as no keyword, or that is invalid. */
function allowsAll(keyword: string, value: unknown): boolean {
  if (SUBSCHEMAS.one.includes(keyword))
    return value === true || (isObject(value) && Object.keys(value).length === 0);
  if (/^(min|max|exclusiveM|multipleOf)/.test(keyword))
    return !/number|bigint/.test(typeof value) || (value === 0 && /^min[A-Z]/.test(keyword));
  return value === false;
}

const byText = (values: readonly unknown[]): Map<string, unknown> =>
  new Map(values.map((value) => [textOf(value), value]));

function mapOf<Item, Value>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  read: (item: Item) => Value,
): Map<string, Value> {
  return new Map(items.map((item) => [nameOf(item), read(item)]));
}

/** Identifies an operation: the names of path parameters do not matter. */
const keyOf = ({ method, pointer, template }: Operation): string =>
  `${method} ${pointer.split('/')[1]} ${template.shape}`;

const NOTHING = (): Members => ({});

const credentialsText = (requirement: Operation['security'][number]): string =>
  Object.entries(requirement)
    .map(([scheme, scopes]) => [scheme, ...scopes.toSorted()].join(' '))
    .join(' and ') || 'none';

/** True if credentials meet one of the requirements. They may have further scopes. */
export const suffices = (credentials: unknown, requirements: ReadonlyMap<string, unknown>) =>
  [...requirements.values()].some((requirement) =>
    Object.entries(sourceOf(requirement)).every(([scheme, scopes]) => {
      const { [scheme]: granted } = sourceOf(credentials);
      return Array.isArray(granted) && asArray(scopes).every((scope) => granted.includes(scope));
    }),
  );

const sourceOf = (value: unknown): Json => (value instanceof Part ? value.source : {});

/** Tells where credentials are sent. */
function schemeText({ type, scheme = '', in: where = '', name = '' }: Json): string {
  const text = `${type} ${scheme} ${where} ${name}`;
  return (where === 'query' ? text : text.toLowerCase()).replaceAll(/ +/g, ' ').trim();
}

/** Returns a value as people read it. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (stringifyJson(value) ?? '');
