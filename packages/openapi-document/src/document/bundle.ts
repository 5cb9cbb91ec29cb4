import { basename, extname } from 'node:path';
import {
  asObject,
  decoded,
  directPointer,
  escapePointerToken,
  type Finding,
  freeName,
  type Json,
  type Location,
  refTo,
  resolveRef,
  valueAt,
} from './document.ts';
import { componentGroup, type MemberKind, memberKind } from './kinds.ts';
import { type FileContent, resolver } from './resolver.ts';

type Members = Record<string, unknown>;

/** A member of an object or an array, and its location in a file. */
interface Member {
  readonly key: string;
  readonly value: unknown;
  readonly from: Location;
}

/**
 * Copies a document of several files into one tree. Each `$ref` of the copy points into the copy.
 *
 * A referenced part of another file becomes a component. In three cases, a copy of the part
 * replaces the reference: OpenAPI has no components of its kind, it is a path item, or the
 * reference is itself a component.
 *
 * @returns the copy (`root`), and the original locations of its referenced parts (`origins`). The
 *   `problems` are references that cannot be resolved. They are removed. The `notices` are
 *   references that OpenAPI does not allow, but that are resolved.
 */
export function bundle(documentFile: string, source: Json, read: (file: string) => FileContent) {
  const { placeOf, valueIn, dynamicAnchors } = resolver(read);
  const components = new Map<string, Map<string, unknown>>();
  /** The `$ref` to each part of another file that became a component, by `file#pointer`. */
  const componentRefs = new Map<string, string>();
  const references: { readonly holder: Members; readonly at: string }[] = [];
  const origins = new Map<string, Location>();
  /** The targets that are being copied in place of a reference. */
  const copying: string[] = [];
  const problems: Finding[] = [];
  const notices: Finding[] = [];

  const { components: declaredComponents, ...otherMembers } = source;
  const componentsPlace = { file: documentFile, pointer: '/components' };
  const componentMembers = membersOf(declaredComponents, componentsPlace, '/components');
  const isGroup = ({ key }: Member) => memberKind('components', key) !== undefined;
  const groups = componentMembers
    .filter(isGroup)
    .map(({ key, value, from }) => [key, membersOf(value, from, `/components/${key}`)] as const);
  // Reserves the names of the document, so that parts of other files get other names.
  for (const [group, members] of groups) reserveNames(group, members);
  for (const [group, members] of groups) copyGroup(group, members);
  const documentPlace = { file: documentFile, pointer: '' };
  const copied = copyMembers(membersOf(otherMembers, documentPlace, ''), 'document', '');
  const copiedComponents = [
    ...[...components].map(([group, members]) => [group, Object.fromEntries(members)]),
    // Extensions
    ...componentMembers.filter((member) => !isGroup(member)).map(({ key, value }) => [key, value]),
  ];
  const isEmpty = declaredComponents === undefined && copiedComponents.length === 0;
  const root: Json = isEmpty
    ? copied
    : { ...copied, components: Object.fromEntries(copiedComponents) };
  for (const { holder, at } of references) checkReference(root, holder, at);
  return { root, origins, problems, notices };

  function groupNamed(group: string): Map<string, unknown> {
    const members = components.get(group) ?? new Map<string, unknown>();
    components.set(group, members);
    return members;
  }

  function reserveNames(group: string, members: readonly Member[]): void {
    for (const { key, value, from } of members) {
      groupNamed(group).set(key, undefined);
      const { $ref } = asObject(value);
      const target = typeof $ref === 'string' ? placeOf($ref, from) : undefined;
      for (const place of [from, target]) {
        if (place === undefined || place.file === documentFile) continue;
        if (componentRefs.has(locationKey(place))) continue;
        componentRefs.set(locationKey(place), componentRef(group, key));
      }
    }
  }

  function copyGroup(group: string, members: readonly Member[]): void {
    const copies = copyMembers(members, memberKind('components', group), `/components/${group}`);
    for (const [name, copy] of Object.entries(copies)) groupNamed(group).set(name, copy);
  }

  function copyMembers(
    members: readonly Member[],
    kind: MemberKind | undefined,
    at: string,
  ): Members {
    const copies = members.map(({ key, value, from }) => {
      const place = `${at}/${escapePointerToken(key)}`;
      const isText = typeof kind === 'string' && TEXTS.has(key);
      const copy = copyOf(value, isText ? 'other' : memberKind(kind, key), from, place);
      return [key, copy] as const;
    });
    return Object.fromEntries(copies.filter(([, copy]) => copy !== undefined));
  }

  function copyOf(
    value: unknown,
    kind: MemberKind | undefined,
    from: Location,
    at: string,
  ): unknown {
    if (kind === 'schemaName') return schemaRef(value, from, at);
    if (kind === undefined || typeof value !== 'object' || value === null) return value;
    const holder = asObject(value);
    const ref = holder.$ref ?? holder.$dynamicRef;
    if (typeof ref !== 'string') {
      const copies = copyMembers(membersOf(value, from, at), kind, at);
      return Array.isArray(value) ? Object.values(copies) : copies;
    }
    if (groupOf(kind) === undefined) return copyTarget(holder, ref, kind, from, at);
    return copyReference(holder, ref, kind, from, at);
  }

  function copyReference(
    holder: Json,
    ref: string,
    kind: MemberKind,
    from: Location,
    at: string,
  ): Members {
    const { $ref: _, ...siblings } = holder;
    // Validators know the metaschema, so it is not copied.
    if (METASCHEMA.test(ref))
      return { ...siblings, type: ['object', 'boolean'], 'x-json-schema': true };
    const target = targetOf(ref, from, at);
    const place = target && refToPart(target, kind);
    // A component that is a reference becomes the copy of its target.
    const isComponent = place === refTo(at);
    const copy = copyMembers(membersOf(isComponent ? holder : siblings, from, at), kind, at);
    if (place === undefined || isComponent) return copy;
    const reference = { $ref: place, ...copy };
    references.push({ holder: reference, at });
    return reference;
  }

  /** Replaces a reference by a copy of its target. Members beside `$ref` take precedence. */
  function copyTarget(
    holder: Json,
    ref: string,
    kind: MemberKind,
    from: Location,
    at: string,
  ): unknown {
    const target = placeOf(ref, from);
    const key = target === undefined ? '' : locationKey(target);
    if (target !== undefined && copying.includes(key)) {
      notices.push({ pointer: at, message: `$ref: ${ref} is circular: it has no effect here` });
      return undefined;
    }
    const value = target && valueIn(target);
    // No notice for `paths: { $ref: _index.yaml }`, which is common.
    if (kind !== 'pathItem' && !['/paths', '/webhooks'].includes(at)) {
      const name = at.slice(at.lastIndexOf('/') + 1);
      const effect = value === undefined ? 'has no effect' : `is replaced by a copy of ${ref}`;
      notices.push({ pointer: at, message: `OpenAPI has no $ref in ${name}: it ${effect}` });
    }
    copying.push(key);
    const copies = copyMembers(membersOf(holder, from, at), kind, at);
    copying.pop();
    if (typeof value === 'string') return value;
    if (Array.isArray(value)) return Object.values(copies);
    return Object.keys(copies).length > 0 ? copies : undefined;
  }

  /** Returns the `$ref` to a part of a file. A part of another file becomes a component. */
  function refToPart(target: Location, kind: MemberKind): string {
    if (target.file === documentFile) return refTo(target.pointer);
    const existingRef = componentRefs.get(locationKey(target));
    if (existingRef !== undefined) return existingRef;
    const group = groupOf(kind) ?? '';
    const members = groupNamed(group);
    const name = freeName(nameFor(target), (text) => members.has(text));
    const place = `/components/${group}/${name}`;
    componentRefs.set(locationKey(target), `#${place}`);
    origins.set(place, target);
    // Reserves the name while the parts inside are copied.
    members.set(name, undefined);
    members.set(name, copyOf(valueIn(target), kind, target, place));
    return `#${place}`;
  }

  /**
   * Returns the `$ref` for a value of a discriminator's mapping, which is the name of a schema or a
   * reference (OpenAPI 3.1 §4.8.25.4). Returns other values unchanged.
   */
  function schemaRef(value: unknown, from: Location, at: string): unknown {
    if (typeof value !== 'string') return value;
    if (components.get('schemas')?.has(value)) return componentRef('schemas', value);
    const target = /[#/.]/.test(value) ? placeOf(value, from) : undefined;
    if (target === undefined || valueIn(target) === undefined) return value;
    return copyReference({}, value, 'schema', from, at).$ref ?? value;
  }

  /**
   * Returns the members of an object or an array. A reference has the members of its target.
   * Members beside `$ref` take precedence over them.
   */
  function membersOf(
    value: unknown,
    from: Location,
    at: string,
    followed: readonly string[] = [],
  ): Member[] {
    const { $ref } = asObject(value);
    const ref = typeof $ref === 'string' ? $ref : undefined;
    const directMembers = Object.entries(Object(value))
      .filter(([key]) => ref === undefined || key !== '$ref')
      .map(([key, item]): Member => {
        const pointer = `${from.pointer}/${escapePointerToken(key)}`;
        return { key, value: item, from: { file: from.file, pointer } };
      });
    const target = ref === undefined ? undefined : targetOf(ref, from, at);
    if (target === undefined) return directMembers;
    const isCircular = followed.includes(locationKey(target));
    if (isCircular || valueIn(target) === undefined) {
      report(at, `$ref: ${ref} ${isCircular ? 'is circular' : 'does not exist'}`);
      return directMembers;
    }
    const path = [...followed, locationKey(target)];
    const inherited = membersOf(valueIn(target), target, at, path);
    const members = new Map([...inherited, ...directMembers].map((member) => [member.key, member]));
    for (const member of members.values())
      origins.set(`${at}/${escapePointerToken(member.key)}`, member.from);
    return [...members.values()];
  }

  /** Returns the target of a reference. Reports a URL, and a target that does not exist. */
  function targetOf(ref: string, from: Location, at: string): Location | undefined {
    const target = placeOf(ref, from);
    if (target === undefined) {
      return report(at, `$ref: ${ref} is not fetched: only files are read. ${ADVICE}`);
    }
    const { file, pointer } = target;
    const content = read(file);
    if ('reason' in content)
      return report(at, `$ref: ${file} cannot be read: ${content.reason}`, file);
    if (pointer === '' || pointer.startsWith('/')) {
      const exists = file === documentFile || valueIn(target) !== undefined;
      return exists ? target : report(at, `$ref: ${ref} does not exist`);
    }
    const withSlash = { file, pointer: `/${pointer}` };
    if (valueIn(withSlash) === undefined)
      return report(at, `$ref: ${ref} does not exist: no schema has this $anchor`);
    const message = `$ref: ${ref} has no slash after #: it is read as ${ref.replace('#', '#/')}`;
    notices.push({ pointer: at, message });
    return withSlash;
  }

  function report(pointer: string, message: string, about?: string): undefined {
    problems.push({ pointer, message, ...(about !== undefined && { about }) });
  }

  /** Removes a reference that cannot be resolved in the copy. */
  function checkReference(copy: Json, holder: Members, at: string): void {
    const name = String(holder.$dynamicRef ?? '');
    const isAmbiguous = (dynamicAnchors.get(name.slice(name.indexOf('#') + 1)) ?? 0) > 1;
    const ref = String(holder.$ref);
    const direct = directPointer(copy, decoded(ref.slice(1)));
    if (valueAt(copy, ref) === undefined && valueAt(copy, direct) !== undefined) {
      holder.$ref = refTo(direct);
      const message = `$ref: ${ref} points through another $ref, which is resolved`;
      notices.push({ pointer: at, message });
    }
    const message = isAmbiguous
      ? `$dynamicRef: ${name} may lead to several schemas: use $ref to select one`
      : problemOf(copy, String(holder.$ref));
    if (message === undefined) return;
    report(at, message);
    Reflect.deleteProperty(holder, '$ref');
  }
}

/** Returns the group of components for objects of a kind. Path items have none: they are copied. */
const groupOf = (kind: MemberKind): string | undefined =>
  typeof kind === 'string' && kind !== 'pathItem' ? componentGroup(kind) : undefined;

/** Members that are strings. OpenAPI has no references in them, but some tools allow one. */
const TEXTS = new Set(['title', 'summary', 'description']);

const ADVICE =
  'Save it beside the document and reference the file, or bundle it: npx @redocly/cli bundle';

const METASCHEMA = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

const componentRef = (group: string, name: string): string =>
  refTo(`/components/${group}/${escapePointerToken(name)}`);

const locationKey = ({ file, pointer }: Location): string => `${file}#${pointer}`;

/** Names a component after its pointer or its file. */
function nameFor({ file, pointer }: Location): string {
  const name = pointer.slice(pointer.lastIndexOf('/') + 1) || basename(file, extname(file));
  return name.replace(/[^\w.-]/g, '_');
}

/** Returns the reason why a reference cannot be resolved, or `undefined` if it can. */
function problemOf(root: Json, ref: string): string | undefined {
  try {
    if (valueAt(root, ref) === undefined) return `$ref: ${ref} does not exist`;
    resolveRef(root, { $ref: ref });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return undefined;
}
