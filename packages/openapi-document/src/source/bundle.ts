import { basename, extname } from 'node:path';
import {
  asObject,
  decoded,
  directPointer,
  escapePointerToken,
  type Finding,
  freeName,
  isObject,
  type Json,
  type Location,
  onFirstUse,
  refTo,
  resolveRef,
  valueAt,
} from './document.ts';
import { componentGroup, type MemberKind, memberKind } from './kinds.ts';
import { type FileContent, resolver } from './resolver.ts';

type Members = Record<string, unknown>;

/** An object with a `$ref` (`holder`), and its location in the copy. */
interface Reference {
  readonly holder: Members;
  readonly kind: MemberKind;
  readonly pointer: string;
}

/**
 * Copies a document of several files into one tree. Each `$ref` of the copy points into the copy.
 *
 * A referenced part of another file becomes a component. The reference is replaced by a copy of
 * the part if OpenAPI has no components of its kind, if the part is a path item, or if the
 * reference is itself a component.
 *
 * @returns the copy (`root`), and the original locations of its referenced parts (`origins`). The
 *   `problems` are references that cannot be resolved. They are removed. The `notices` are
 *   references that are read in another way, circular references between path items, and missing
 *   documentation.
 */
export function bundle(documentFile: string, source: Json, read: (file: string) => FileContent) {
  const { targetLocation, valueIn, dynamicAnchors } = resolver(read);
  const componentPointers = new Set<string>();
  /** The `$ref` of the component for each part of another file, by {@link locationKey}. */
  const componentRefs = new Map<string, string>();
  const addedComponents: { readonly group: string; readonly name: string; copy?: unknown }[] = [];
  const references: Reference[] = [];
  const origins = new Map<string, Location>();
  /** The targets that are being copied in place of a reference. */
  const copying: string[] = [];
  const problems: Finding[] = [];
  const notices: Finding[] = [];

  for (const [group, location] of memberLocations({ file: documentFile, pointer: '/components' })) {
    if (memberKind('components', group) === undefined) continue;
    for (const [name, component] of memberLocations(location))
      reserveName(`/components/${group}/${escapePointerToken(name)}`, component);
  }
  const copied = asObject(copyOf(source, 'document', { file: documentFile, pointer: '' }, ''));
  const root = withComponents(copied);
  // Many references have the same target.
  const factsOf = onFirstUse((ref: string) => referenceFacts(root, ref));
  for (const reference of references) checkReference(reference);
  return { root, origins, problems, notices };

  /** Includes the members of the `$ref` target of the object. */
  function memberLocations(
    from: Location,
    followed: readonly string[] = [],
  ): Map<string, Location> {
    const { $ref, ...members } = asObject(valueIn(from));
    const target = typeof $ref === 'string' ? targetLocation($ref, from) : undefined;
    const isCircular = followed.includes(locationKey(from));
    const inherited =
      target === undefined || isCircular
        ? []
        : memberLocations(target, [...followed, locationKey(from)]);
    const direct = Object.keys(members).map((key) => [key, memberLocation(from, key)] as const);
    return new Map([...inherited, ...direct]);
  }

  /** Reserves the name of a component, so that parts of other files get other names. */
  function reserveName(pointer: string, from: Location): void {
    componentPointers.add(pointer);
    const { $ref } = asObject(valueIn(from));
    const target = typeof $ref === 'string' ? targetLocation($ref, from) : undefined;
    for (const location of [from, target]) {
      if (location === undefined || location.file === documentFile) continue;
      if (componentRefs.has(locationKey(location))) continue;
      componentRefs.set(locationKey(location), refTo(pointer));
    }
  }

  function withComponents(copy: Json): Json {
    if (addedComponents.length === 0) return copy;
    const components: Members = { ...asObject(copy.components) };
    for (const [group, parts] of Map.groupBy(addedComponents, (part) => part.group)) {
      const members = Object.fromEntries(parts.map((part) => [part.name, part.copy]));
      components[group] = { ...asObject(components[group]), ...members };
    }
    return { ...copy, components };
  }

  /**
   * @param from the location of the original.
   * @param pointer the location of the copy.
   */
  function copyOf(
    value: unknown,
    kind: MemberKind | undefined,
    from: Location,
    pointer: string,
  ): unknown {
    if (kind === 'schemaName') return schemaRef(value, from, pointer);
    if (kind === undefined || typeof value !== 'object' || value === null) return value;
    const { $ref, ...siblings } = asObject(value);
    const ref = $ref ?? siblings.$dynamicRef;
    if (typeof ref !== 'string') return copyMembers(value, kind, from, pointer);
    const copySiblings = () => copyMembers(siblings, kind, from, pointer) as Members;

    const target = targetOf(ref, kind, from, pointer);
    const group = groupOf(kind);
    const partRef = target && group && refToPart(target, kind, group);
    if (partRef && partRef !== refTo(pointer)) {
      const reference = { $ref: partRef, ...copySiblings() };
      references.push({ holder: reference, kind, pointer });
      return reference;
    }
    const inherited = copyTarget(ref, target, kind, pointer);
    const copies = copySiblings();
    for (const key of Object.keys(copies))
      origins.set(memberPointer(pointer, key), memberLocation(from, key));
    if (isObject(inherited)) return { ...inherited, ...copies };
    const isEmpty = group === undefined && Object.keys(copies).length === 0;
    return inherited ?? (isEmpty ? undefined : copies);
  }

  /** Returns `undefined` if the target is missing or circular. */
  function copyTarget(
    ref: string,
    target: Location | undefined,
    kind: MemberKind,
    pointer: string,
  ): unknown {
    if (target === undefined) return undefined;
    const value = valueIn(target);
    if (value === undefined) return report(kind, pointer, `$ref: ${ref} does not exist`);
    const key = locationKey(target);
    if (copying.includes(key)) {
      const findings = kind === 'pathItem' ? notices : problems;
      findings.push({ pointer, message: `$ref: ${ref} is circular: it has no effect here` });
      return undefined;
    }
    // A text has no parts: messages about it name the reference.
    if (typeof value === 'object') origins.set(pointer, target);
    copying.push(key);
    const copy = copyOf(value, kind, target, pointer);
    copying.pop();
    return copy;
  }

  function copyMembers(value: object, kind: MemberKind, from: Location, pointer: string): unknown {
    const copies = Object.entries(value).map(([key, member]) => {
      const isText = typeof kind === 'string' && TEXT_MEMBERS.has(key);
      const kindOfMember = isText ? 'other' : memberKind(kind, key);
      const copy = copyOf(
        member,
        kindOfMember,
        memberLocation(from, key),
        memberPointer(pointer, key),
      );
      return [key, copy] as const;
    });
    const members = copies.filter(([, copy]) => copy !== undefined);
    return Array.isArray(value) ? members.map(([, copy]) => copy) : Object.fromEntries(members);
  }

  /** A part of another file becomes a component. */
  function refToPart(target: Location, kind: MemberKind, group: string): string {
    if (target.file === documentFile) return refTo(target.pointer);
    const existingRef = componentRefs.get(locationKey(target));
    if (existingRef !== undefined) return existingRef;
    const pointerOf = (text: string) => `/components/${group}/${text}`;
    const name = freeName(componentName(target), (text) => componentPointers.has(pointerOf(text)));
    const pointer = pointerOf(name);
    componentPointers.add(pointer);
    componentRefs.set(locationKey(target), refTo(pointer));
    origins.set(pointer, target);
    const part: (typeof addedComponents)[number] = { group, name };
    // Added before it is copied, so that it precedes the parts inside it.
    addedComponents.push(part);
    part.copy = copyOf(valueIn(target), kind, target, pointer);
    return refTo(pointer);
  }

  /**
   * Returns the `$ref` for a value of a discriminator's mapping, which is the name of a schema or a
   * reference (OpenAPI 3.1 §4.8.25.3). Returns other values unchanged.
   */
  function schemaRef(value: unknown, from: Location, pointer: string): unknown {
    if (typeof value !== 'string') return value;
    const component = memberPointer('/components/schemas', value);
    if (componentPointers.has(component)) return refTo(component);
    const target = /[#/.]/.test(value) ? targetLocation(value, from) : undefined;
    if (target === undefined || valueIn(target) === undefined) return value;
    return asObject(copyOf({ $ref: value }, 'schema', from, pointer)).$ref ?? value;
  }

  /** Reports a URL, an unreadable file, and a missing part of another file. */
  function targetOf(
    ref: string,
    kind: MemberKind,
    from: Location,
    pointer: string,
  ): Location | undefined {
    const target = targetLocation(ref, from);
    if (target === undefined) {
      return report(kind, pointer, `$ref: ${ref} is not fetched: only files are read. ${ADVICE}`);
    }
    const { file, pointer: targetPointer } = target;
    const content = read(file);
    if ('reason' in content)
      return report(kind, pointer, `$ref: ${file} cannot be read: ${content.reason}`);
    if (targetPointer === '' || targetPointer.startsWith('/')) {
      const exists = file === documentFile || valueIn(target) !== undefined;
      return exists ? target : report(kind, pointer, `$ref: ${ref} does not exist`);
    }
    const withSlash = { file, pointer: `/${targetPointer}` };
    if (valueIn(withSlash) === undefined)
      return report(kind, pointer, `$ref: ${ref} does not exist: no schema has this $anchor`);
    const message = `$ref: ${ref} has no slash after #: it is read as ${ref.replace('#', '#/')}`;
    notices.push({ pointer, message });
    return withSlash;
  }

  function report(kind: MemberKind, pointer: string, message: string): undefined {
    const [memberType] = [kind].flat();
    const isDocumentation = memberType === 'example' || memberType === 'other';
    const findings = isDocumentation ? notices : problems;
    findings.push({ pointer, message });
  }

  /**
   * Removes a reference that cannot be resolved in the copy. Makes a reference direct if it points
   * through another `$ref`.
   */
  function checkReference({ holder, kind, pointer }: Reference): void {
    const name = String(holder.$dynamicRef ?? '');
    const isAmbiguous = (dynamicAnchors.get(name.slice(name.indexOf('#') + 1)) ?? 0) > 1;
    const ref = String(holder.$ref);
    const { direct, problem } = factsOf(ref);
    if (direct !== ref) {
      holder.$ref = direct;
      const message = `$ref: ${ref} points through another $ref: it is read as ${direct}`;
      notices.push({ pointer, message });
    }
    const message = isAmbiguous
      ? `$dynamicRef: ${name} may lead to several schemas: use $ref to select one`
      : problem;
    if (message === undefined) return;
    report(kind, pointer, message);
    Reflect.deleteProperty(holder, '$ref');
  }
}

/** `undefined` for path items: they are copied to the places of their references. */
const groupOf = (kind: MemberKind): string | undefined =>
  typeof kind === 'string' && kind !== 'pathItem' ? componentGroup(kind) : undefined;

/** Members that are strings. OpenAPI has no references in them, but some tools allow one. */
const TEXT_MEMBERS = new Set(['title', 'summary', 'description']);

const ADVICE =
  'Save it beside the document and reference the file, or bundle it: npx @redocly/cli bundle';

const locationKey = ({ file, pointer }: Location): string => `${file}#${pointer}`;

const memberPointer = (pointer: string, key: string): string =>
  `${pointer}/${escapePointerToken(key)}`;

const memberLocation = ({ file, pointer }: Location, key: string): Location => ({
  file,
  pointer: memberPointer(pointer, key),
});

function componentName({ file, pointer }: Location): string {
  const name = pointer.slice(pointer.lastIndexOf('/') + 1) || basename(file, extname(file));
  return name.replace(/[^\w.-]/g, '_');
}

/** Returns a reference that leads to the same value directly, and the reason if there is none. */
function referenceFacts(root: Json, ref: string) {
  if (valueAt(root, ref) !== undefined) return { direct: ref, problem: problemOf(root, ref) };
  const pointer = directPointer(root, decoded(ref.slice(1)));
  const direct = valueAt(root, pointer) === undefined ? ref : refTo(pointer);
  return { direct, problem: problemOf(root, direct) };
}

function problemOf(root: Json, ref: string): string | undefined {
  try {
    if (valueAt(root, ref) === undefined) return `$ref: ${ref} does not exist`;
    resolveRef(root, { $ref: ref });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return undefined;
}
