import { basename, extname } from 'node:path';
import { asObject, escapePointerToken, type Finding, type Location, resolveRef, valueAt } from './document.ts';
import { componentGroup, eachMember, type MemberKind } from './kinds.ts';
import { type Content, resolver } from './resolver.ts';

type Members = Record<string, unknown>;

/**
 * Rewrites the references of a document in place, and moves what other files hold into its components. The bundlers on
 * npm leave mappings of discriminators as they are, lose the names of schemas, and read examples as references.
 * Returns the parts that came from other files, by their pointers, and the references to nothing, which are removed.
 */
export function bundle(documentFile: string, root: Members, read: (file: string) => Content) {
  // The object is the document's own: parts of other files are added to it.
  const components = (root.components ?? {}) as Record<string, Members>;
  /** The `$ref` to each part of another file, by `file#pointer`. */
  const known = new Map<string, string>();
  /** Objects that were rewritten. YAML aliases lead to the same object several times. */
  const seen = new Set<unknown>();
  const references: { readonly ref: string; readonly at: string; readonly holder: Members }[] = [];
  const origins = new Map<string, Location>();
  const problems: Finding[] = [];
  const { placeOf, valueIn, dynamic } = resolver(read);

  const top = { file: documentFile, pointer: '' };
  for (const [group, members] of Object.entries(components)) {
    for (const [name, member] of Object.entries(asObject(members))) {
      const { $ref } = asObject(member);
      const place = typeof $ref === 'string' && !$ref.startsWith('#') ? placeOf($ref, top) : undefined;
      if (place !== undefined) known.set(keyOf(place), `#/components/${group}/${escapePointerToken(name)}`);
    }
  }
  rewrite(root, 'document', top, '');
  if (Object.keys(components).length > 0) root.components = components;
  for (const [ref, uses] of Map.groupBy(references, (reference) => reference.ref)) {
    const message = problemOf(root, ref);
    for (const { at, holder } of uses) {
      const name = String(holder.$dynamicRef ?? '');
      if (message !== undefined) problem(holder, at, message);
      else if ((dynamic.get(name.slice(name.indexOf('#') + 1)) ?? 0) > 1) {
        problem(holder, at, `$dynamicRef: ${name} may lead to several schemas: name one of them with $ref`);
      }
    }
  }
  return { origins, problems };

  /** @returns the value, or what another file has in its place. */
  function rewrite(value: unknown, kind: MemberKind, from: Location, at: string): unknown {
    if (typeof value !== 'object' || value === null || seen.has(value)) return value;
    seen.add(value);
    const members = value as Members;
    if (typeof members.$dynamicRef === 'string') members.$ref ??= members.$dynamicRef;
    if (METASCHEMA.test(String(members.$ref))) {
      // Nothing is fetched: the validator knows it.
      Reflect.deleteProperty(members, '$ref');
      Object.assign(members, { type: ['object', 'boolean'], 'x-json-schema': true });
    }
    const ref = typeof members.$ref === 'string' ? newRef(members, '$ref', kind, from, at) : undefined;
    if (ref === `#${at}`) return replace(members, kind, from, at);
    if (ref !== undefined) members.$ref = ref;
    if (kind === 'discriminator') {
      rewriteMapping(members, 'defaultMapping', from, at);
      const mapping = asObject(members.mapping) as Members;
      for (const key of Object.keys(mapping)) rewriteMapping(mapping, key, from, `${at}/mapping`);
    }
    eachMember(members, kind, at, (item, held, place, key) => {
      const pointer = `${from.pointer}/${escapePointerToken(key)}`;
      const rewritten = rewrite(item, held, { file: from.file, pointer }, place);
      if (rewritten !== item) members[key] = rewritten;
    });
    return value;
  }

  /** Replaces a reference by the part of another file that it leads to. Members beside `$ref` take precedence. */
  function replace({ $ref, ...siblings }: Members, kind: MemberKind, from: Location, at: string): unknown {
    const origin = placeOf(String($ref), from) ?? from;
    origins.set(at, origin);
    const target = valueIn(origin);
    const whole = Object.keys(siblings).length === 0 ? target : { ...asObject(target), ...siblings };
    return rewrite(whole, kind, origin, at);
  }

  /** The `$ref` that a reference becomes. It leads to `at` itself if the target takes the place of the reference. */
  function newRef(holder: Members, key: string, kind: MemberKind, from: Location, at: string): string | undefined {
    const ref = String(holder[key]);
    const origin = placeOf(ref, from);
    if (origin === undefined) return problem(holder, at, `$ref: ${ref} is not fetched: only files are read`);
    const local = `#${encodeURI(origin.pointer).replaceAll('#', '%23')}`;
    const made = origin.file === documentFile ? local : refToFile(holder, ref, kind, origin, at);
    if (made !== undefined && made !== `#${at}`) references.push({ ref: made, at, holder });
    return made;
  }

  function refToFile(holder: Members, ref: string, kind: MemberKind, origin: Location, at: string): string | undefined {
    const content = read(origin.file);
    if ('reason' in content) return problem(holder, at, `$ref: ${origin.file} cannot be read: ${content.reason}`);
    const value = valueAt(content.value, origin.pointer);
    if (value === undefined) return problem(holder, at, `$ref leads to nothing: ${ref}`);
    const key = keyOf(origin);
    const group = typeof kind === 'string' ? componentGroup(kind) : undefined;
    const made = known.get(key);
    if (made !== undefined) return made;
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
    members[name] = rewrite(value, kind, origin, place);
    return `#${place}`;
  }

  /** A mapping leads to a schema by reference or by name (OpenAPI 3.1 §4.8.25.4). Either becomes a reference. */
  function rewriteMapping(holder: Members, key: string, from: Location, at: string): void {
    const target = holder[key];
    if (typeof target !== 'string') return;
    const place = /[#/.]/.test(target) ? placeOf(target, from) : undefined;
    if (Object.hasOwn(asObject(components.schemas), target)) {
      holder[key] = `#/components/schemas/${escapePointerToken(target)}`;
    } else if (place !== undefined && valueIn(place) !== undefined) {
      holder[key] = newRef(holder, key, 'schema', from, `${at}/${escapePointerToken(key)}`);
    }
  }

  function problem(holder: Members, pointer: string, message: string): undefined {
    problems.push({ pointer, message });
    Reflect.deleteProperty(holder, '$ref');
  }
}

const METASCHEMA = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

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
