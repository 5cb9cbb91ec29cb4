import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { decoded, escapePointerToken, type Location, pointersTo, valueAt } from './document.ts';
import { SUBSCHEMAS } from './kinds.ts';

/** The value in a file, or the reason why it cannot be read. */
export type FileContent = { readonly value: unknown } | { readonly reason: string };

/** Keywords whose values are data without references. */
const DATA = new Set(['const', 'enum', 'example', 'examples', 'default']);

/** Keywords whose values have names as keys. A name may also be a word of `DATA`. */
const NAMED = new Set([
  ...SUBSCHEMAS.named,
  ...['schemas', 'responses', 'parameters', 'requestBodies', 'headers', 'callbacks', 'pathItems'],
  ...['mediaTypes', 'encoding', 'webhooks'],
]);

/**
 * Finds the targets of references: by path and pointer, by the `$id` and the anchors of schemas
 * (JSON Schema 2020-12 §8.2), or by the `$self` of the document (OpenAPI 3.2 §4.1.2.2.2).
 */
export function resolver(read: (file: string) => FileContent) {
  const uris = new Map<string, string>();
  /** The locations of files, and of schemas with an `$id` or an anchor, by URI. */
  const resources = new Map<string, Location>();
  /** The base URIs of references, by the file and the pointer of the object that declares them. */
  const bases = new Map<string, Map<string, string>>();
  /** The number of schemas with a `$dynamicAnchor`, by its name. */
  const dynamicAnchors = new Map<string, number>();
  return { placeOf, valueIn, dynamicAnchors };

  /** Returns the target of a reference, or `undefined` for a URL that no file has. */
  function placeOf(ref: string, from: Location): Location | undefined {
    const [path = '', fragment = ''] = ref.split('#');
    const pointer = decoded(fragment);
    const { file } = from;
    const fileUri = uriOf(file);
    const inFile = bases.get(file);
    const nearest = pointersTo(from.pointer).findLast((outer) => inFile?.has(outer)) ?? '';
    const base = inFile?.get(nearest) ?? fileUri;
    const resource = resourceAt(path === '' ? base : (URL.parse(path, base)?.href ?? ''), pointer);
    if (resource !== undefined && valueIn(resource) !== undefined) return resource;
    const target = fileOf(path, file);
    return target === undefined
      ? undefined
      : (resourceAt(uriOf(target), pointer) ?? { file: target, pointer });
  }

  /** Returns the URI of a file. The first call for a file also registers its schemas. */
  function uriOf(file: string): string {
    const cachedUri = uris.get(file);
    if (cachedUri !== undefined) return cachedUri;
    const uri = pathToFileURL(resolve(file)).href;
    uris.set(file, uri);
    resources.set(uri, { file, pointer: '' });
    scan(valueIn({ file, pointer: '' }), file, [], uri, false);
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
    const url = URL.parse(path);
    for (const [file, inFile] of bases) {
      const self = URL.parse(inFile.get('') ?? '');
      if (!url?.host || self?.origin !== url.origin) continue;
      return join(dirname(file), relative(dirname(self.pathname), url.pathname));
    }
    return undefined;
  }

  function scan(
    value: unknown,
    file: string,
    path: string[],
    base: string,
    hasNames: boolean,
  ): void {
    if (typeof value !== 'object' || value === null) return;
    const { $id, $self, $anchor, $dynamicAnchor } = value as Record<string, unknown>;
    const identifier = path.length === 0 ? ($self ?? $id) : $id;
    const uri =
      (typeof identifier === 'string' && URL.parse(identifier, base)?.href.replace(/#$/, '')) ||
      base;
    const location = () => ({
      file,
      pointer: path.map((key) => `/${escapePointerToken(key)}`).join(''),
    });
    if (uri !== base) {
      resources.set(uri, location());
      const inFile = bases.get(file) ?? new Map<string, string>();
      bases.set(file, inFile.set(location().pointer, uri));
    }
    for (const name of [$anchor, $dynamicAnchor])
      if (typeof name === 'string') resources.set(`${uri}#${name}`, location());
    if (typeof $dynamicAnchor === 'string')
      dynamicAnchors.set($dynamicAnchor, (dynamicAnchors.get($dynamicAnchor) ?? 0) + 1);
    for (const [key, item] of Object.entries(value)) {
      if (!hasNames && DATA.has(key)) continue;
      path.push(key);
      scan(item, file, path, uri, !hasNames && NAMED.has(key));
      path.pop();
    }
  }

  function valueIn({ file, pointer }: Location): unknown {
    const content = read(file);
    return 'value' in content ? valueAt(content.value, pointer) : undefined;
  }
}
