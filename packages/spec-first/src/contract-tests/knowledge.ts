import {
  asArray,
  asObject,
  declaredFor,
  decoded,
  isObject,
  type Json,
  matchPath,
  type Operation,
  type Outline,
  type Parameter,
  readParameter,
  stringifyJson,
  writeParameter,
} from 'openapi-document';
import { type ReceivedResponse, resourceOf, resourceOutlineOf } from './check-response.ts';
import { onlyObjectIn } from './compare.ts';
import {
  collectionPathOf,
  idNameOfParameter,
  idNameOfPath,
  idParameterOf,
  isIdName,
  namesOf,
  normalizedName,
  ownNamesOf,
  resourcePathOf,
  singularOf,
  templateOf,
} from './names.ts';

/** The maximum number of known resources of one path template, and of ids of one name. */
const MAX_KNOWN = 50;

/** The maximum number of items of a list that are learned. */
const MAX_ITEMS = 5;

/** The path parameters of resources, by the path template. */
export type Paths = ReadonlyMap<string, Json>;

/** A resource by its template and its path parameters. */
export interface Resource {
  readonly template: string;
  readonly path: Json;
}

/** Returns true for a resource itself, and for those below it. */
export const isWithin = (one: Resource, other: Resource): boolean =>
  `${one.template}/`.startsWith(`${other.template}/`) &&
  namesOf(other.template).every((name) => String(one.path[name]) === String(other.path[name]));

/** Different values of a path parameter, and the members that had each of them. */
interface IdMembers {
  readonly texts: ReadonlySet<string>;
  readonly members: readonly string[];
}

/** Returns the name of a path parameter with its collection: `roomnumber` of `/rooms/{number}`. */
const longNameOf = (template: string, name: string): string =>
  idNameOfPath(template).replace(/id$/, normalizedName(name));

const NO_MEMBERS: IdMembers = { texts: new Set(), members: [] };

const isSame = (one: Resource, other: Resource): boolean =>
  one.template === other.template && isWithin(one, other);

/** The path of an operation or of a resource, and its template. */
type Place = Pick<Operation, 'path' | 'template'>;

/** The resources and ids of one response. */
export interface Lesson {
  /** The resources of the response. Omits the items of lists. */
  readonly paths: Paths;
  /** True if an earlier response has shown the resource of the body. */
  readonly isKnown: boolean;
}

/**
 * The ids of resources, the entity tags, and the operations that create resources, as responses
 * have shown them. Names only suggest values to try. A check relies on ids that are certain.
 */
export class Knowledge {
  readonly operations: readonly Operation[];
  /** Path parameters of resources, newest first, by the path template. */
  readonly #paths = new Map<string, Json[]>();
  /** Ids, newest first, by normalized names such as `paymentid`. */
  readonly #ids = new Map<string, unknown[]>();
  /** The names and the texts of all ids that were shown, also of those that are deleted. */
  readonly #shownIds = new Set<string>();
  readonly #etags = new Map<string, string>();
  /** The path parameters of the requests that created resources, by the addresses of these. */
  readonly #origins = new Map<string, Json>();
  /** The path parameters of the last successful PUT or POST, by the path of the operation. */
  readonly #written = new Map<string, Json>();
  /** The operations that created resources, by path template and by the name of the id. */
  readonly #creators: Map<string, Set<Operation>>;
  /** The ids that the option `seed` returned, by normalized name. */
  readonly #seeded = new Map<string, unknown>();
  /** The templates of all resources that were shown, with their path parameters. */
  readonly #shown = new Set<string>();
  /** The resources of another caller. */
  #ignored: (Resource & { readonly isPrivate: boolean })[] = [];
  /** True if a response has shown `null`. So the service does not leave out such members. */
  showsNull = false;
  /**
   * The path templates of resources. The resources of a collection without such a path have `{id}`
   * after the path of the collection.
   */
  readonly templates: readonly string[];
  readonly readers: readonly Operation[];
  readonly #items: Map<string, string>;
  /** The members that had the values of a path parameter, by its path template and its name. */
  readonly #idMembers: Map<string, IdMembers>;

  /** The paths of the servers, without a trailing slash. */
  basePaths: readonly string[];

  constructor(
    operations: readonly Operation[],
    basePaths: readonly string[],
    creators = new Map<string, Set<Operation>>(),
    idMembers = new Map<string, IdMembers>(),
  ) {
    this.basePaths = basePaths;
    this.#creators = creators;
    this.#idMembers = idMembers;
    this.operations = operations;
    this.readers = operations.filter(({ method }) => method === 'get');
    const paths = operations.map(({ path }) => resourcePathOf(path)).filter((path) => path !== '');
    const collections = operations
      .filter(({ method, path }) => method === 'post' && this.#listsObjects(path))
      .map(({ path }) => path)
      .filter((path) => !paths.some((other) => collectionPathOf(other) === path));
    this.templates = [...new Set([...paths, ...collections.map((path) => `${path}/{id}`)])];
    this.#items = new Map(
      this.templates.toReversed().map((path) => [collectionPathOf(path), path]),
    );
    // `/patients/{id}/visits` may create `/visits/{id}`.
    for (const operation of operations.filter(({ method }) => method === 'post')) {
      const template = this.templates.find((each) => this.#isOfKind(operation, each));
      if (template !== undefined && !this.#items.has(operation.path))
        this.#items.set(operation.path, template);
    }
  }

  /** Returns true for an operation that creates resources of a template below another path. */
  #isOfKind(operation: Operation, template: string): boolean {
    return (
      idNameOfPath(operation.path) === idNameOfPath(template) &&
      resourcePathOf(operation.path) !== template &&
      ownNamesOf(template).length === 1 &&
      this.#isShownAs(template, resourceOutlineOf(operation, 201))
    );
  }

  /** Returns true if resources of a template have a form. */
  #isShownAs(template: string, outline: Outline | undefined): boolean {
    const reader = this.readerOf(template);
    const shown = reader && resourceOutlineOf(reader, 200);
    const namesIn = ({ names }: Outline) => [...names].sort().join();
    return (
      shown !== undefined &&
      outline?.form === 'object' &&
      shown.componentName === outline.componentName &&
      namesIn(shown) === namesIn(outline)
    );
  }

  #listsObjects(path: string): boolean {
    const reader = this.readerOf(path);
    const [{ outline } = {}] = (reader && declaredFor(reader, 200)?.media) ?? [];
    const kinds = ['data', 'item', singularOf(path.replace(/.*\//, ''))];
    const name = [...(outline?.names ?? [])].find((each) => kinds.includes(singularOf(each)));
    const list = name === undefined ? outline : outline?.member(name);
    return list?.form === 'array' && list.item(0).form === 'object';
  }

  /** Returns the template of the resource that an operation creates, changes or deletes. */
  subjectOf({ method, path }: Operation): string | undefined {
    const item = method === 'post' ? this.itemOf(path) : undefined;
    // A singleton, such as `/profile`, has no id.
    const singleton = method !== 'post' && this.readerOf(path) ? path : undefined;
    return item ?? singleton ?? (resourcePathOf(path) || undefined);
  }

  /** Returns the GET operation of a path. */
  readerOf(path: string): Operation | undefined {
    return this.readers.find((other) => other.path === path);
  }

  /** Returns the GET operations of a path with the base path. */
  readersAt(pathname: string): readonly Operation[] {
    return this.readers.filter(({ path }) => this.matched(path, pathname) !== undefined);
  }

  /** Returns the template of the resources in a collection: `/rooms/{roomId}` of `/rooms`. */
  itemOf(collection: string): string | undefined {
    return this.#items.get(collection);
  }

  idsOf(name: string): readonly unknown[] {
    return this.#ids.get(normalizedName(name)) ?? [];
  }

  hasShownId = (name: string, id: unknown): boolean =>
    this.#shownIds.has(`${normalizedName(name)} ${id}`);

  etagOf({ path }: Operation, values: Json): string | undefined {
    return this.#etags.get(addressOf(resourcePathOf(path), values));
  }

  /** Returns the operations that created resources of a template, or ids of a name. */
  creatorsOf(key: string): readonly Operation[] {
    return [...(this.#creators.get(key) ?? [])];
  }

  /** Returns the path parameters of known resources, newest first. */
  pathsOf(template: string): readonly Json[] {
    return this.#paths.get(template) ?? [];
  }

  /** Returns the path parameters of something that a PUT or POST of the same path has written. */
  writtenAt({ path }: Operation): Json | undefined {
    const written = this.#written.get(path);
    return written && this.#isKnown(resourcePathOf(path), written) ? written : undefined;
  }

  /** Returns the path parameters of the request that created a resource. */
  originOf = (template: string, path: Json): Json | undefined =>
    this.#origins.get(addressOf(template, path));

  /** Completes the path parameters of an operation with seeded and known ids. */
  completed({ path: template }: Operation, path: Json): Json {
    const entries = namesOf(resourcePathOf(template)).map((name) => {
      const idName = idNameOfParameter(template, name);
      const seeded = this.#seeded.get(idName) ?? this.#seeded.get(normalizedName(name));
      return [name, seeded ?? path[name] ?? this.#ids.get(idName)?.[0]];
    });
    return Object.fromEntries(entries.filter(([, id]) => id !== undefined));
  }

  /** Adds the ids that the option `seed` returned, by name. They take precedence in paths. */
  addSeeds(idsByName: Json): void {
    for (const [name, id] of Object.entries(idsByName)) {
      this.#seeded.set(normalizedName(name), id);
      this.#addId(normalizedName(name), id);
    }
  }

  /** Forgets a deleted resource, and the resources below its path. */
  forget({ path: template, template: { names } }: Place, path: Json): void {
    const isOther = (resource: Json) => names.some((name) => resource[name] !== path[name]);
    for (const [resource, paths] of this.#paths)
      if (`${resource}/`.startsWith(`${template}/`))
        this.#paths.set(resource, paths.filter(isOther));
    const name = names.at(-1) ?? '';
    if (!template.endsWith(`{${name}}`)) return;
    for (const [idName, ids] of this.#ids)
      this.#ids.set(
        idName,
        ids.filter((id) => id !== path[name]),
      );
    for (const [idName, id] of this.#seeded) if (id === path[name]) this.#seeded.delete(idName);
  }

  /**
   * Forgets a resource of another caller, and learns nothing of it from later responses.
   *
   * @param isPrivate true if only the other caller may read it.
   */
  ignore(template: string, path: Json, isPrivate: boolean): void {
    this.#ignored.push({ template, path, isPrivate });
    this.forget({ path: template, template: templateOf(template) }, path);
  }

  /** Returns the knowledge of another caller: that of the operations, without the resources. */
  ofOtherCaller = (): Knowledge =>
    new Knowledge(this.operations, this.basePaths, this.#creators, this.#idMembers);

  /** Returns true for a resource that only another caller may read. */
  isPrivate = (resource: Resource): boolean =>
    this.#ignored.some((other) => other.isPrivate && isWithin(resource, other));

  /**
   * Learns from a successful response. Ids come from the path of the request, from `Location`,
   * and from members such as `id` and `roomId`.
   */
  learn(operation: Operation, path: Json, response: ReceivedResponse): Lesson {
    const found = new Map<string, Json>();
    let isKnown = false;
    let hasAdded = false;
    const isWritten = /^(post|put)$/.test(operation.method);
    const add = (template: string, resource: Json) => {
      // Each caller may have a resource with this id.
      if (isWritten)
        this.#ignored = this.#ignored.filter(
          (other) => !isSame(other, { template, path: resource }),
        );
      const typed = this.#addPath(template, resource);
      if (typed !== undefined) found.set(template, typed);
    };
    const { value: body, outline } = resourceOf({ operation }, response);
    this.showsNull ||= hasNull(body);
    const own = resourcePathOf(operation.path);
    const isNew = operation.method === 'put' && !this.#isKnown(own, path);
    if (own !== '') add(own, path);
    if (own === operation.path) this.#learnMembers(own, path, asObject(body));
    const item = this.itemOf(operation.path);
    if (item !== undefined) {
      const isSingle = this.idsIn(item, asObject(body)) !== undefined;
      for (const entity of isSingle ? [asObject(body)] : entitiesIn(body)) {
        const resource = { ...path, ...this.idsIn(item, entity) };
        isKnown ||= entity === body && this.isShown(item, resource);
        if (entity === body) add(item, resource);
        else {
          hasAdded ||= !this.isShown(item, resource);
          this.#addPath(item, resource);
        }
      }
    }
    const copyIds = this.#copyIdsIn(operation, asObject(body), outline);
    if (copyIds !== undefined) add(own, { ...path, ...copyIds });
    this.#followLocation(response, add);
    for (const [template, resource] of found)
      if (template !== own || isNew) this.#origins.set(addressOf(template, resource), path);
    const names = this.#learnIds(operation, body, outline);

    const { etag } = response.headers;
    if (etag !== undefined)
      for (const [template, resource] of found)
        this.#etags.set(addressOf(template, resource), etag);
    if (isWritten) {
      this.#written.set(operation.path, path);
      const created = found.keys().filter((template) => template !== own || isNew);
      const several = item !== undefined && hasAdded ? [item] : [];
      const templates = [...created, ...several];
      const longNames = templates.flatMap((template) =>
        ownNamesOf(template).map((name) => longNameOf(template, name)),
      );
      for (const key of [...templates, ...longNames, ...names]) {
        if (key !== own && `${own}/`.startsWith(`${key}/`)) continue;
        const creators = this.#creators.get(key) ?? new Set();
        this.#creators.set(key, creators.add(operation));
      }
    }
    return { paths: found, isKnown };
  }

  /** Returns the ids of a resource in an object, by the names of path parameters, if certain. */
  idsIn(template: string, entity: Json): Json | undefined {
    const entries = ownNamesOf(template).map((name) => {
      const member = this.idMemberIn(template, name, entity);
      return [name, member === undefined ? undefined : entity[member]] as const;
    });
    if (entries.every(([, id]) => id !== undefined)) return Object.fromEntries(entries);
    const { inner } = onlyObjectIn(entity) ?? {};
    return inner && this.idsIn(template, inner);
  }

  /** Returns the name of the member of an object that has a path parameter, if it is certain. */
  idMemberIn(template: string, parameter: string, entity: Json): string | undefined {
    const names = Object.keys(entity).filter((key) => (entity[key] ?? undefined) !== undefined);
    const name = normalizedName(parameter);
    // `roomid` and `room` of `/rooms/{room}` are ids, too.
    const isOfPath = [name, `${name}id`].includes(idNameOfPath(template));
    const isId = isIdName(parameter) || isOfPath;
    const named =
      names.find((key) => normalizedName(key) === name) ??
      names.find((key) => isId && key === 'id');
    const { texts, members } = this.#idMembers.get(`${template} ${parameter}`) ?? NO_MEMBERS;
    // Another member may have the same value by chance, so two different values are needed.
    const isUnsure = texts.size < 2 || members.length === 0;
    return isUnsure || members.includes(named ?? '')
      ? named
      : names.find((key) => members.includes(key));
  }

  /** Learns which members of resources have the values of the path parameters. */
  #learnMembers(template: string, path: Json, entity: Json): void {
    for (const name of ownNamesOf(template)) {
      const text = String(path[name]);
      const key = `${template} ${name}`;
      const known = this.#idMembers.get(key);
      const members = Object.keys(entity).filter((member) => String(entity[member]) === text);
      this.#idMembers.set(key, {
        texts: new Set([...(known?.texts ?? []), text]),
        members: known?.members.filter((member) => members.includes(member)) ?? members,
      });
    }
  }

  /** Returns true if a response has shown a resource, also one that is deleted. */
  isShown = (template: string, path: Json): boolean => this.#shown.has(addressOf(template, path));

  #isKnown(template: string, path: Json): boolean {
    return this.pathsOf(template).some(
      (other) => addressOf(template, other) === addressOf(template, path),
    );
  }

  /**
   * Adds a resource. Returns its path parameters in the types of their schemas, such as 7 for the
   * text `7`. Returns `undefined` if one is missing or cannot be sent.
   */
  #addPath(template: string, values: Json): Json | undefined {
    const names = namesOf(template);
    const typed = names.flatMap((name) => {
      const value = values[name];
      const parameter = this.operations
        .find(({ path }) => resourcePathOf(path) === template)
        ?.parameters.find((other) => other.in === 'path' && other.name === name);
      if (value === undefined || value === null || isObject(value)) return [];
      if (parameter === undefined) return [[name, value] as const];
      const typedValue = readBack(parameter, value);
      return typedValue === undefined ? [] : [[name, typedValue] as const];
    });
    if (typed.length < names.length) return undefined;
    const path = Object.fromEntries(typed);
    if (this.#ignored.some((other) => isWithin({ template, path }, other))) return undefined;
    for (const [name, value] of typed) {
      this.#addId(idNameOfParameter(template, name), value);
      this.#addId(longNameOf(template, name), value);
    }
    const others = this.pathsOf(template).filter(
      (other) => addressOf(template, other) !== addressOf(template, path),
    );
    this.#paths.set(template, [path, ...others].slice(0, MAX_KNOWN));
    this.#shown.add(addressOf(template, path));
    return path;
  }

  #addId(name: string, id: unknown): void {
    if (name === 'id' || typeof id === 'object' || id === undefined || id === '') return;
    const isIgnored = this.#ignored.some(({ template, path }) => {
      const own = idParameterOf(template);
      return idNameOfParameter(template, own) === name && path[own] === id;
    });
    if (isIgnored) return;
    this.#shownIds.add(`${name} ${id}`);
    const distinct = new Set([id, ...(this.#ids.get(name) ?? [])]);
    this.#ids.set(name, [...distinct].slice(0, MAX_KNOWN));
  }

  /** Adds the resources of `Location`. It takes precedence over members of the body. */
  #followLocation(
    { url, headers: { location } }: ReceivedResponse,
    add: (template: string, path: Json) => void,
  ): void {
    const target = location === undefined ? null : URL.parse(location, url);
    if (target === null) return;
    for (const template of this.templates) {
      const texts = this.matched(template, target.pathname);
      if (texts === undefined) continue;
      const entries = namesOf(template).map((name, index) => [name, decoded(texts[index] ?? '')]);
      add(template, Object.fromEntries(entries));
    }
  }

  /** Returns the values of the parameters in a path, or `undefined` if it does not match. */
  matched(template: string, pathname: string): string[] | undefined {
    const pattern = templateOf(template);
    // `matchPath` ignores segments before those of the template.
    const isWhole = this.basePaths.some(
      (base) =>
        pathname.startsWith(`${base}/`) &&
        pathname.slice(base.length).split('/').length === pattern.segments.length,
    );
    return isWhole ? matchPath(pattern, pathname) : undefined;
  }

  /** Returns the ids of a resource that an action has made of another one, as `/copy` does. */
  #copyIdsIn({ method, path }: Operation, body: Json, outline: Outline | undefined) {
    const own = resourcePathOf(path);
    const isCopied = method === 'post' && path !== own && this.#isShownAs(own, outline);
    return isCopied ? this.idsIn(own, body) : undefined;
  }

  /** Adds the ids in members such as `roomId`. Returns the names of the `id` of the body itself. */
  #learnIds({ path }: Operation, body: unknown, outline: Outline | undefined): string[] {
    const isList = Array.isArray(body) || Object.values(asObject(body)).some(Array.isArray);
    const componentName = isList ? undefined : outline?.componentName;
    const names = [
      idNameOfPath(path),
      ...(componentName === undefined ? [] : [`${normalizedName(componentName)}id`]),
    ];
    for (const entity of entitiesIn(body)) {
      for (const [name, value] of Object.entries(entity)) {
        if (isIdName(name)) this.#addId(normalizedName(name), value);
      }
      // A list in a resource contains other resources.
      if (entity !== body && asObject(body).id !== undefined) continue;
      for (const name of names) this.#addId(name, entity.id);
    }
    return asObject(body).id === undefined ? [] : names;
  }
}

/** Returns the value that a service reads, or `undefined` if the value cannot be sent. */
function readBack(parameter: Parameter, value: unknown): unknown {
  try {
    return readParameter(parameter, writeParameter(parameter, value));
  } catch {
    return undefined;
  }
}

const hasNull = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.values(value).some(hasNull));

const addressOf = (template: string, path: Json): string =>
  `${template} ${namesOf(template).map((name) => stringifyJson(path[name]))}`;

/** Returns some objects of a response that may have an id: the body, and the items of its lists. */
const entitiesIn = (body: unknown): Json[] =>
  [body, ...asArray(body), ...Object.values(asObject(body)).flatMap(asArray)]
    .filter(isObject)
    .slice(0, MAX_ITEMS);
