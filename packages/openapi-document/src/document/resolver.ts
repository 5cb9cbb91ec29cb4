import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { decoded, escapePointerToken, type Location, valueAt } from './document.ts';

/** What a file holds, or why it cannot be read. */
export type Content = { readonly value: unknown } | { readonly reason: string };

/** Members that hold data of the API's own, in which nothing is a schema, unless their names are those of properties. */
const DATA = /(?<!\/properties|\/\$defs|\/schemas)\/(const|enum|example|examples|default)$/;

/**
 * Finds where references lead: by path and pointer, by the `$id` and the anchors of schemas (JSON Schema 2020-12 §8.2), or by
 * the `$self` of the document (OpenAPI 3.2 §4.1.2.2.2).
 */
export function resolver(read: (file: string) => Content) {
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
    const file = scanned(from.file);
    const isAround = (base: Location) => base.file === file && `${from.pointer}/`.startsWith(`${base.pointer}/`);
    const base = bases.findLast(isAround)?.uri ?? uriOf(file);
    const found = resourceAt(path === '' ? base : (URL.parse(path, base)?.href ?? ''), pointer);
    if (found !== undefined && valueIn(found) !== undefined) return found;
    const target = fileOf(path, file);
    return target === undefined
      ? undefined
      : (resourceAt(uriOf(scanned(target)), pointer) ?? { file: target, pointer });
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

  function scanned(file: string): string {
    if (!resources.has(uriOf(file))) {
      resources.set(uriOf(file), { file, pointer: '' });
      scan(valueIn({ file, pointer: '' }), { file, pointer: '' }, uriOf(file));
    }
    return file;
  }

  function scan(value: unknown, { file, pointer }: Location, around: string): void {
    if (typeof value !== 'object' || value === null || DATA.test(pointer)) return;
    const { $id, $self, $anchor, $dynamicAnchor } = value as Record<string, unknown>;
    const own = pointer === '' ? ($self ?? $id) : $id;
    const uri = (typeof own === 'string' && URL.parse(own, around)?.href.replace(/#$/, '')) || around;
    if (uri !== around) {
      resources.set(uri, { file, pointer });
      bases.push({ file, pointer, uri });
    }
    for (const name of [$anchor, $dynamicAnchor]) {
      if (typeof name === 'string') resources.set(`${uri}#${name}`, { file, pointer });
    }
    if (typeof $dynamicAnchor === 'string') dynamic.set($dynamicAnchor, (dynamic.get($dynamicAnchor) ?? 0) + 1);
    for (const [key, item] of Object.entries(value)) {
      scan(item, { file, pointer: `${pointer}/${escapePointerToken(key)}` }, uri);
    }
  }

  function valueIn({ file, pointer }: Location): unknown {
    const content = read(file);
    return 'value' in content ? valueAt(content.value, pointer) : undefined;
  }
}

const uriOf = (file: string): string => pathToFileURL(resolve(file)).href;
