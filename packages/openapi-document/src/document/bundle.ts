import { basename, extname } from 'node:path';
import { asObject, escapePointerToken, type Finding, type Location, resolveRef, valueAt } from './document.ts';
import { anchorsIn, componentGroup, isData, isUrl, targetOf } from './references.ts';

type Members = Record<string, unknown>;

/** Stands for the content of a file that cannot be read. */
export class Unreadable {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

export interface Bundled {
  readonly origins: ReadonlyMap<string, Location>;
  /** The references that cannot be followed, and why. They are removed. */
  readonly problems: readonly Finding[];
}

/**
 * Rewrites the references of a document in place, and moves what other files hold into its components. The bundlers on
 * npm leave mappings of discriminators as they are, lose the names of schemas, and read examples as references.
 */
export function bundle(documentFile: string, root: Members, files: ReadonlyMap<string, unknown>): Bundled {
  // The object is the document's own: parts of other files are added to it.
  const components = (root.components ?? {}) as Record<string, Members>;
  /** The `$ref` to each part of another file, by `file#pointer`. */
  const known = new Map<string, string>();
  /** Objects that were rewritten. YAML aliases lead to the same object several times. */
  const seen = new Set<unknown>();
  const anchors = new Map<string, ReadonlyMap<string, string>>();
  const references: { readonly ref: string; readonly at: string; readonly holder: Members }[] = [];
  const origins = new Map<string, Location>();
  const problems: Finding[] = [];

  const top = { file: documentFile, pointer: '' };
  for (const [group, members] of Object.entries(components)) {
    for (const [name, member] of Object.entries(asObject(members))) {
      const { $ref } = asObject(member);
      if (typeof $ref !== 'string' || $ref.startsWith('#') || isUrl($ref)) continue;
      known.set(keyOf(placeOf($ref, top)), `#/components/${group}/${escapePointerToken(name)}`);
    }
  }
  rewrite(root, top, '');
  if (Object.keys(components).length > 0) root.components = components;
  for (const [ref, uses] of Map.groupBy(references, (reference) => reference.ref)) {
    const message = problemOf(root, ref);
    if (message !== undefined) for (const { at, holder } of uses) problem(holder, at, message);
  }
  return { origins, problems };

  /** @returns the value, or what another file has in its place. */
  function rewrite(value: unknown, from: Location, at: string): unknown {
    if (typeof value !== 'object' || value === null || seen.has(value)) return value;
    seen.add(value);
    const members = value as Members;
    if (typeof members.$dynamicRef === 'string') members.$ref ??= members.$dynamicRef;
    const ref = typeof members.$ref === 'string' ? newRef(members, '$ref', from, at) : undefined;
    if (ref === `#${at}`) return replace(members, from, at);
    if (ref !== undefined) members.$ref = ref;
    if (at.endsWith('/discriminator') && typeof members.defaultMapping === 'string') {
      const fallback = { defaultMapping: members.defaultMapping };
      rewriteMapping(fallback, from, at);
      Object.assign(members, fallback);
    }
    for (const [key, item] of Object.entries(members)) {
      if (typeof item !== 'object' || item === null || isData(key, item, at)) continue;
      const inside = { file: from.file, pointer: `${from.pointer}/${escapePointerToken(key)}` };
      if (key === 'mapping' && at.endsWith('/discriminator')) rewriteMapping(item as Members, inside, at);
      else {
        const rewritten = rewrite(item, inside, `${at}/${escapePointerToken(key)}`);
        if (rewritten !== item) members[key] = rewritten;
      }
    }
    return value;
  }

  /** Replaces a reference by the part of another file that it leads to. Members beside `$ref` take precedence. */
  function replace({ $ref, ...siblings }: Members, from: Location, at: string): unknown {
    const origin = placeOf(String($ref), from);
    origins.set(at, origin);
    const target = valueIn(origin);
    const whole = Object.keys(siblings).length === 0 ? target : { ...asObject(target), ...siblings };
    return rewrite(whole, origin, at);
  }

  /** Where a reference leads; an anchor becomes the pointer of its schema. */
  function placeOf(ref: string, from: Location): Location {
    const { file, pointer } = targetOf(ref, from);
    if (pointer === '' || pointer.startsWith('/')) return { file, pointer };
    const inFile = anchors.get(file) ?? anchorsIn(files.get(file));
    anchors.set(file, inFile);
    return { file, pointer: inFile.get(pointer) ?? pointer };
  }

  function valueIn({ file, pointer }: Location): unknown {
    const content = files.get(file);
    return content instanceof Unreadable ? undefined : valueAt(content, pointer);
  }

  /** The `$ref` that a reference becomes. It leads to `at` itself if the target takes the place of the reference. */
  function newRef(holder: Members, key: string, from: Location, at: string): string | undefined {
    const ref = String(holder[key]);
    if (isUrl(ref)) return problem(holder, at, `$ref: ${ref} is not fetched: only files are read`);
    const origin = placeOf(ref, from);
    const local = `#${encodeURI(origin.pointer).replaceAll('#', '%23')}`;
    const made = origin.file === documentFile ? local : refToFile(holder, ref, origin, at);
    if (made !== undefined && made !== `#${at}`) references.push({ ref: made, at, holder });
    return made;
  }

  function refToFile(holder: Members, ref: string, origin: Location, at: string): string | undefined {
    const content = files.get(origin.file);
    if (content instanceof Unreadable) {
      return problem(holder, at, `$ref: ${origin.file} cannot be read: ${content.reason}`);
    }
    const value = valueIn(origin);
    if (value === undefined) return problem(holder, at, `$ref leads to nothing: ${ref}`);
    const key = keyOf(origin);
    if (known.has(key)) return known.get(key);
    const group = componentGroup(at);
    if (group === undefined) {
      known.set(key, `#${at}`);
      return `#${at}`;
    }
    const members = components[group] ?? {};
    components[group] = members;
    const name = freeName(members, origin);
    const place = `/components/${group}/${name}`;
    known.set(key, `#${place}`);
    origins.set(place, origin);
    // Reserves the name while what is inside takes others.
    members[name] = value;
    members[name] = rewrite(value, origin, place);
    return `#${place}`;
  }

  /** The values of a mapping are references or names of schemas (OpenAPI 3.1 §4.8.25.4). Those of schemas become references. */
  function rewriteMapping(mapping: Members, from: Location, at: string): void {
    for (const [value, target] of Object.entries(mapping)) {
      if (typeof target !== 'string') continue;
      const isName = Object.hasOwn(asObject(components.schemas), target);
      if (isName) mapping[value] = `#/components/schemas/${escapePointerToken(target)}`;
      else if (!isUrl(target) && valueIn(placeOf(target, from)) !== undefined) {
        mapping[value] = newRef(mapping, value, from, `${at}/mapping/${escapePointerToken(value)}`);
      }
    }
  }

  function problem(holder: Members, pointer: string, message: string): undefined {
    problems.push({ pointer, message });
    Reflect.deleteProperty(holder, '$ref');
  }
}

const keyOf = ({ file, pointer }: Location): string => `${file}#${pointer}`;

function freeName(taken: Members, { file, pointer }: Location): string {
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
    resolveRef(root, { $ref: ref });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return undefined;
}
