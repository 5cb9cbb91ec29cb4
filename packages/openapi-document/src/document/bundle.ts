import { basename, extname } from 'node:path';
import { follow, objectAt, type Place, token, valueAt } from './document.ts';
import { anchorsIn, componentGroup, isData, isUrl, targetOf } from './references.ts';

type Members = Record<string, unknown>;

export interface Bundled {
  readonly origins: ReadonlyMap<string, Place>;
  /** The references that cannot be followed, and why. */
  readonly problems: ReadonlyMap<Place, string>;
}

/**
 * Rewrites the references of a document in place, and moves what other files hold into its components. The bundlers on
 * npm leave mappings of discriminators as they are, lose the names of schemas, and read examples as references.
 */
export const bundle = (file: string, root: Members, files: ReadonlyMap<string, unknown>): Bundled =>
  new Bundler(file, root, files).bundle();

class Bundler {
  readonly #file: string;
  readonly #root: Members;
  readonly #files: ReadonlyMap<string, unknown>;
  readonly #components: Record<string, Members>;
  /** The `$ref` to each part of another file, by `file#pointer`. */
  readonly #places = new Map<string, string>();
  /** Objects that were rewritten. YAML aliases lead to the same object several times. */
  readonly #seen = new Set<unknown>();
  readonly #anchors = new Map<string, ReadonlyMap<string, string>>();
  readonly #references: { readonly ref: string; readonly from: Place }[] = [];
  readonly #origins = new Map<string, Place>();
  readonly #problems = new Map<Place, string>();

  constructor(file: string, root: Members, files: ReadonlyMap<string, unknown>) {
    this.#file = file;
    this.#root = root;
    this.#files = files;
    // The object is the document's own: parts of other files are added to it.
    this.#components = (root.components ?? {}) as Record<string, Members>;
  }

  bundle(): Bundled {
    const top = { file: this.#file, pointer: '' };
    for (const [group, members] of Object.entries(this.#components)) {
      for (const [name, member] of Object.entries(objectAt(members))) {
        const { $ref } = objectAt(member);
        if (typeof $ref !== 'string' || $ref.startsWith('#') || isUrl($ref)) continue;
        const { file, pointer } = this.#target($ref, top);
        this.#places.set(`${file}#${pointer}`, `#/components/${group}/${token(name)}`);
      }
    }
    this.#rewrite(this.#root, top, '');
    if (Object.keys(this.#components).length > 0) this.#root.components = this.#components;
    for (const [ref, uses] of Map.groupBy(this.#references, (reference) => reference.ref)) {
      const problem = problemOf(this.#root, ref);
      if (problem !== undefined) for (const { from } of uses) this.#problem(from, problem);
    }
    return { origins: this.#origins, problems: this.#problems };
  }

  /** @returns the value, or what another file has in its place. */
  #rewrite(value: unknown, from: Place, at: string): unknown {
    if (typeof value !== 'object' || value === null || this.#seen.has(value)) return value;
    this.#seen.add(value);
    const members = value as Members;
    if (typeof members.$dynamicRef === 'string' && members.$ref === undefined) {
      members.$ref = members.$dynamicRef;
    }
    const place = typeof members.$ref === 'string' ? this.#place(members.$ref, from, at) : undefined;
    if (place === `#${at}`) return this.#replace(members, from, at);
    if (place !== undefined) members.$ref = place;
    for (const [key, item] of Object.entries(members)) {
      if (typeof item !== 'object' || item === null || isData(key, item, at)) continue;
      const inside = { file: from.file, pointer: `${from.pointer}/${token(key)}` };
      if (key === 'mapping' && at.endsWith('/discriminator')) this.#rewriteMapping(item as Members, inside, at);
      else {
        const rewritten = this.#rewrite(item, inside, `${at}/${token(key)}`);
        if (rewritten !== item) members[key] = rewritten;
      }
    }
    return value;
  }

  /** Replaces a reference by the part of another file that it leads to. Members beside `$ref` take precedence. */
  #replace({ $ref, ...siblings }: Members, from: Place, at: string): unknown {
    const origin = this.#target(String($ref), from);
    this.#origins.set(at, origin);
    const target = valueAt(this.#files.get(origin.file), origin.pointer);
    const whole = Object.keys(siblings).length === 0 ? target : { ...objectAt(target), ...siblings };
    return this.#rewrite(whole, origin, at);
  }

  /** Where a reference leads; an anchor becomes the pointer of its schema. */
  #target(ref: string, from: Place): Place {
    const { file, pointer } = targetOf(ref, from);
    if (pointer === '' || pointer.startsWith('/')) return { file, pointer };
    const anchors = this.#anchors.get(file) ?? anchorsIn(this.#files.get(file));
    this.#anchors.set(file, anchors);
    return { file, pointer: anchors.get(pointer) ?? pointer };
  }

  /** The `$ref` that a reference becomes. It leads to `at` itself if the target takes the place of the reference. */
  #place(ref: string, from: Place, at: string): string | undefined {
    if (isUrl(ref)) return this.#problem(from, `$ref: ${ref} is not fetched: only files are read`);
    const origin = this.#target(ref, from);
    const local = `#${encodeURI(origin.pointer).replaceAll('#', '%23')}`;
    const place = origin.file === this.#file ? local : this.#externalPlace(ref, origin, from, at);
    if (place !== undefined && place !== `#${at}`) this.#references.push({ ref: place, from });
    return place;
  }

  #externalPlace(ref: string, origin: Place, from: Place, at: string): string | undefined {
    const key = `${origin.file}#${origin.pointer}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    if (this.#files.get(origin.file) === undefined) return this.#problem(from, `$ref: ${origin.file} cannot be read`);
    const value = valueAt(this.#files.get(origin.file), origin.pointer);
    if (value === undefined) return this.#problem(from, `$ref leads to nothing: ${ref}`);
    const group = componentGroup(at);
    if (group === undefined) {
      this.#places.set(key, `#${at}`);
      return `#${at}`;
    }
    const members = this.#components[group] ?? {};
    this.#components[group] = members;
    const name = freeName(members, origin);
    const place = `/components/${group}/${name}`;
    this.#places.set(key, `#${place}`);
    this.#origins.set(place, origin);
    members[name] = value;
    members[name] = this.#rewrite(value, origin, place);
    return `#${place}`;
  }

  /** The values of a mapping are references or names of schemas (OpenAPI 3.1 §4.8.25.4). Those of schemas become references. */
  #rewriteMapping(mapping: Members, from: Place, at: string): void {
    for (const [value, target] of Object.entries(mapping)) {
      if (typeof target !== 'string') continue;
      const isName = Object.hasOwn(objectAt(this.#components.schemas), target);
      if (isName) mapping[value] = `#/components/schemas/${token(target)}`;
      else if (!isUrl(target) && this.#isThere(target, from)) {
        mapping[value] = this.#place(target, from, `${at}/mapping/${token(value)}`);
      }
    }
  }

  #isThere(ref: string, from: Place): boolean {
    const { file, pointer } = this.#target(ref, from);
    return valueAt(this.#files.get(file), pointer) !== undefined;
  }

  #problem(from: Place, message: string): undefined {
    this.#problems.set(from, message);
  }
}

function freeName(taken: Members, { file, pointer }: Place): string {
  const last = pointer.slice(pointer.lastIndexOf('/') + 1) || basename(file, extname(file));
  const name = last.replace(/[^\w.-]/g, '_');
  let free = name;
  for (let count = 2; Object.hasOwn(taken, free); count++) free = `${name}${count}`;
  return free;
}

/** Why a reference of the document cannot be followed. */
function problemOf(root: Members, ref: string): string | undefined {
  if (/^#[^/]/.test(ref)) return `$ref leads to no $anchor: ${ref}`;
  try {
    if (valueAt(root, ref) === undefined) return `$ref leads to nothing: ${ref}`;
    follow(root, { $ref: ref });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return undefined;
}
