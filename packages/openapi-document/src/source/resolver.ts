import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  asObject,
  decoded,
  escapePointerToken,
  type Location,
  onFirstUse,
  pointersTo,
  valueAt,
} from './document.ts';
import { type MemberKind, memberKind } from './kinds.ts';

/** Matches keywords of a schema. Without one, an object of a fragment has schemas by name. */
const SCHEMA_KEYWORDS = /^(\$.*|type|properties|items|(all|any|one)Of)$/;

/** Keywords whose values are data. */
const DATA: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'example', 'examples']);

/** The value in a file, or the reason why it cannot be read. */
export type FileContent = { readonly value: unknown } | { readonly reason: string };

/**
 * Finds the targets of references: by path and pointer, by the `$id` and the anchors of schemas
 * (JSON Schema 2020-12 §8.2), or by the `$self` of the document (OpenAPI 3.2 §4.1.2.2.1).
 */
export function resolver(read: (file: string) => FileContent) {
  /** The locations of files, and of schemas with an `$id` or an anchor, by URI. */
  const resources = new Map<string, Location>();
  /** The base URIs of references in files and in schemas with an `$id`, by file and pointer. */
  const bases = new Map<string, Map<string, string>>();
  /** The targets of references, by file, base URI and reference. */
  const targets = new Map<string, Location | undefined>();
  /** The number of schemas with a `$dynamicAnchor`, by its name. */
  const dynamicAnchors = new Map<string, number>();
  const uriOf = onFirstUse(registerFile);
  return { targetLocation, valueIn, dynamicAnchors };

  /** Returns `undefined` for a URL outside the document's files. */
  function targetLocation(ref: string, from: Location): Location | undefined {
    const { file } = from;
    uriOf(file);
    const base = baseAt(from);
    const key = `${file} ${base} ${ref}`;
    if (!targets.has(key)) targets.set(key, locationOf(ref, file, base));
    return targets.get(key);
  }

  function baseAt({ file, pointer }: Location): string {
    const inFile = bases.get(file) ?? new Map<string, string>();
    // Most files have one base.
    const outer = inFile.size === 1 ? '' : pointersTo(pointer).findLast((at) => inFile.has(at));
    return inFile.get(outer ?? '') ?? '';
  }

  function locationOf(ref: string, file: string, base: string): Location | undefined {
    const [path = '', fragment = ''] = ref.split('#');
    const pointer = decoded(fragment);
    const resource = resourceAt(path === '' ? base : (URL.parse(path, base)?.href ?? ''), pointer);
    if (resource !== undefined && valueIn(resource) !== undefined) return resource;
    const target = fileOf(path, file);
    if (target === undefined) return undefined;
    return resourceAt(uriOf(target), pointer) ?? { file: target, pointer };
  }

  function registerFile(file: string): string {
    const uri = pathToFileURL(resolve(file)).href;
    const location = { file, pointer: '' };
    resources.set(uri, location);
    bases.set(file, new Map([['', uri]]));
    const value = valueIn(location);
    const isFragment = asObject(value).openapi === undefined;
    scan(value, isFragment ? 'schema' : 'document', location, uri, isFragment);
    return uri;
  }

  function resourceAt(uri: string, pointer: string): Location | undefined {
    if (!/^(\/|$)/.test(pointer)) return resources.get(`${uri}#${pointer}`);
    const resource = resources.get(uri);
    return resource && { file: resource.file, pointer: resource.pointer + pointer };
  }

  function fileOf(path: string, from: string): string | undefined {
    if (path === '') return from;
    if (!/^[a-z][a-z\d+.-]+:/i.test(path)) return join(dirname(from), decoded(path));
    // A URL with the origin of a file's `$self` is read as a path relative to that file.
    const url = URL.parse(path);
    for (const [file, inFile] of bases) {
      const self = URL.parse(inFile.get('') ?? '');
      if (!url?.host || self?.origin !== url.origin) continue;
      return join(dirname(file), relative(dirname(self.pathname), url.pathname));
    }
    return undefined;
  }

  /**
   * Registers the identifiers of schemas, and of the file itself. Those in data, such as the values
   * of an enum, identify nothing. A file that is no OpenAPI document may hold any fragments, so
   * unknown members of it are read as schemas.
   */
  function scan(
    value: unknown,
    kind: MemberKind,
    { file, pointer }: Location,
    base: string,
    isFragment: boolean,
  ): void {
    if (typeof value !== 'object' || value === null) return;
    const { $id, $self, $anchor, $dynamicAnchor } = value as Record<string, unknown>;
    const identifier = pointer === '' ? ($self ?? $id) : $id;
    const isIdentified = kind === 'schema' || pointer === '';
    const uri =
      (isIdentified &&
        typeof identifier === 'string' &&
        URL.parse(identifier, base)?.href.replace(/#$/, '')) ||
      base;
    const location = { file, pointer };
    if (uri !== base) {
      resources.set(uri, location);
      bases.get(file)?.set(pointer, uri);
    }
    if (kind === 'schema') {
      for (const name of [$anchor, $dynamicAnchor])
        if (typeof name === 'string') resources.set(`${uri}#${name}`, location);
      if (typeof $dynamicAnchor === 'string')
        dynamicAnchors.set($dynamicAnchor, (dynamicAnchors.get($dynamicAnchor) ?? 0) + 1);
    }
    const isNamed = !Object.keys(value).some((key) => SCHEMA_KEYWORDS.test(key));
    for (const [key, member] of Object.entries(value)) {
      const isPart = isFragment && (isNamed || !DATA.has(key));
      const inner = memberKind(kind, key) ?? (isPart ? 'schema' : undefined);
      const location = { file, pointer: `${pointer}/${escapePointerToken(key)}` };
      if (inner !== undefined) scan(member, inner, location, uri, isFragment);
    }
  }

  function valueIn({ file, pointer }: Location): unknown {
    const content = read(file);
    return 'value' in content ? valueAt(content.value, pointer) : undefined;
  }
}
