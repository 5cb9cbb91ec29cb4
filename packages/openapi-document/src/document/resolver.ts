import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { decoded, escapePointerToken, type Location, valueAt } from './document.ts';

/** What a file holds, or why it cannot be read. */
export type Content = { readonly value: unknown } | { readonly reason: string };

/** Members that hold data of the API's own, in which nothing is a schema, unless they are schemas by name. */
const DATA = new Set(['const', 'enum', 'example', 'examples', 'default']);
const NAMED = new Set(['properties', '$defs', 'schemas']);

/**
 * Finds where references lead: by path and pointer, by the `$id` and the anchors of schemas (JSON Schema 2020-12 §8.2), or by
 * the `$self` of the document (OpenAPI 3.2 §4.1.2.2.2).
 */
export function resolver(read: (file: string) => Content) {
  const uris = new Map<string, string>();
  /** The files, and the schemas that have a URI or an anchor, by URI. */
  const resources = new Map<string, Location>();
  /** The places from which references are relative to a URI. Those inside others come after them. */
  const bases: (Location & { readonly uri: string })[] = [];
  /** How many schemas have a `$dynamicAnchor` of a name. */
  const dynamic = new Map<string, number>();
  return { placeOf, valueIn, dynamic };

  /** @returns `undefined` for a URL that is neither of the document nor beside it. */
  function placeOf(ref: string, from: Location): Location | undefined {
    const [path = '', fragment = ''] = ref.split('#');
    const pointer = decoded(fragment);
    const { file } = from;
    const own = uriOf(file);
    const isAround = (base: Location) => base.file === file && `${from.pointer}/`.startsWith(`${base.pointer}/`);
    const base = bases.findLast(isAround)?.uri ?? own;
    const found = resourceAt(path === '' ? base : (URL.parse(path, base)?.href ?? ''), pointer);
    if (found !== undefined && valueIn(found) !== undefined) return found;
    const target = fileOf(path, file);
    return target === undefined ? undefined : (resourceAt(uriOf(target), pointer) ?? { file: target, pointer });
  }

  /** The URI of a file. The schemas in it are found when it is first asked for. */
  function uriOf(file: string): string {
    const known = uris.get(file);
    if (known !== undefined) return known;
    const uri = pathToFileURL(resolve(file)).href;
    uris.set(file, uri);
    resources.set(uri, { file, pointer: '' });
    scan(valueIn({ file, pointer: '' }), file, [], uri);
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
    const near = bases.find(({ pointer, uri }) => pointer === '' && url?.host && URL.parse(uri)?.origin === url.origin);
    if (near === undefined || url === null) return undefined;
    return join(dirname(near.file), relative(dirname(new URL(near.uri).pathname), url.pathname));
  }

  function scan(value: unknown, file: string, path: string[], around: string): void {
    if (typeof value !== 'object' || value === null) return;
    const { $id, $self, $anchor, $dynamicAnchor } = value as Record<string, unknown>;
    const own = path.length === 0 ? ($self ?? $id) : $id;
    const uri = (typeof own === 'string' && URL.parse(own, around)?.href.replace(/#$/, '')) || around;
    const here = () => ({ file, pointer: path.map((key) => `/${escapePointerToken(key)}`).join('') });
    if (uri !== around) {
      resources.set(uri, here());
      bases.push({ ...here(), uri });
    }
    for (const name of [$anchor, $dynamicAnchor]) if (typeof name === 'string') resources.set(`${uri}#${name}`, here());
    if (typeof $dynamicAnchor === 'string') dynamic.set($dynamicAnchor, (dynamic.get($dynamicAnchor) ?? 0) + 1);
    for (const [key, item] of Object.entries(value)) {
      if (DATA.has(key) && !NAMED.has(path.at(-1) ?? '')) continue;
      path.push(key);
      scan(item, file, path, uri);
      path.pop();
    }
  }

  function valueIn({ file, pointer }: Location): unknown {
    const content = read(file);
    return 'value' in content ? valueAt(content.value, pointer) : undefined;
  }
}
