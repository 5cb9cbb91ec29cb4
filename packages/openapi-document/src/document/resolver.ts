import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  decoded,
  escapePointerToken,
  type Location,
  onFirstUse,
  pointersTo,
  valueAt,
} from './document.ts';

/** The value in a file, or the reason why it cannot be read. */
export type FileContent = { readonly value: unknown } | { readonly reason: string };

/**
 * Finds the targets of references: by path and pointer, by the `$id` and the anchors of schemas
 * (JSON Schema 2020-12 §8.2), or by the `$self` of the document (OpenAPI 3.2 §4.1.2.2.1).
 */
export function resolver(read: (file: string) => FileContent) {
  /** The locations of files, and of schemas with an `$id` or an anchor, by URI. */
  const resources = new Map<string, Location>();
  /** The base URIs of references in files and in schemas with an `$id`, by `file#pointer`. */
  const bases = new Map<string, string>();
  /** The number of schemas with a `$dynamicAnchor`, by its name. */
  const dynamicAnchors = new Map<string, number>();
  const uriOf = onFirstUse(registerFile);
  return { targetLocation, valueIn, dynamicAnchors };

  /** Returns `undefined` for a URL outside the document's files. */
  function targetLocation(ref: string, from: Location): Location | undefined {
    const [path = '', fragment = ''] = ref.split('#');
    const pointer = decoded(fragment);
    const { file } = from;
    uriOf(file);
    const outerBases = pointersTo(from.pointer).map((pointer) => bases.get(`${file}#${pointer}`));
    const base = outerBases.findLast((uri) => uri !== undefined) ?? '';
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
    bases.set(`${file}#`, uri);
    scan(valueIn(location), location, uri);
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
    for (const [key, base] of bases) {
      const self = URL.parse(base);
      if (!url?.host || self?.origin !== url.origin || !key.endsWith('#')) continue;
      return join(dirname(key.slice(0, -1)), relative(dirname(self.pathname), url.pathname));
    }
    return undefined;
  }

  function scan(value: unknown, { file, pointer }: Location, base: string): void {
    if (typeof value !== 'object' || value === null) return;
    const { $id, $self, $anchor, $dynamicAnchor } = value as Record<string, unknown>;
    const identifier = pointer === '' ? ($self ?? $id) : $id;
    const uri =
      (typeof identifier === 'string' && URL.parse(identifier, base)?.href.replace(/#$/, '')) ||
      base;
    const location = { file, pointer };
    if (uri !== base) {
      resources.set(uri, location);
      bases.set(`${file}#${pointer}`, uri);
    }
    for (const name of [$anchor, $dynamicAnchor])
      if (typeof name === 'string') resources.set(`${uri}#${name}`, location);
    if (typeof $dynamicAnchor === 'string')
      dynamicAnchors.set($dynamicAnchor, (dynamicAnchors.get($dynamicAnchor) ?? 0) + 1);
    for (const [key, member] of Object.entries(value))
      scan(member, { file, pointer: `${pointer}/${escapePointerToken(key)}` }, uri);
  }

  function valueIn({ file, pointer }: Location): unknown {
    const content = read(file);
    return 'value' in content ? valueAt(content.value, pointer) : undefined;
  }
}
