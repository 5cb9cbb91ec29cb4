import { readFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { load as parseYaml } from 'js-yaml';
import { LineCounter, parseDocument } from 'yaml';
import {
  type Document,
  DocumentError,
  follow,
  isObject,
  type Json,
  locate,
  objectAt,
  type Place,
  token,
  valueAt,
} from './document.ts';

/**
 * Reads a document and the files that it references. What stands in another file is drawn in where it is referenced
 * first; a schema among `components.schemas`, since discriminators go by its name.
 *
 * @throws {DocumentError} if that is no YAML, a file is missing, or a reference leads to nothing.
 */
export async function loadDocument(file: string): Promise<Document> {
  const bundler = new Bundler(join(file));
  await bundler.read(join(file)).catch((error: unknown) => {
    if (error instanceof DocumentError) throw error;
    throw new DocumentError(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  });
  return bundler.bundle();
}

/** Maps from names to what they name, in which `default` or `example` is a name like any other. */
const NAMES =
  /\/(properties|patternProperties|dependentSchemas|\$defs|responses|examples|headers|paths|components\/[^/]+)$/;

/** Members that hold data of the API's own, in which nothing is a reference. */
const DATA = new Set(['default', 'const', 'enum', 'example', 'value']);

const isData = (key: string, value: unknown, at: string): boolean =>
  (DATA.has(key) || key.startsWith('x-') || (key === 'examples' && Array.isArray(value))) && !NAMES.test(at);

const SCHEME = /^[a-z][a-z\d+.-]+:/i;

/** Where a schema stands. */
const SCHEMA = new RegExp(
  [
    '/(schema|items|contains|not|if|then|else|propertyNames|(additional|unevaluated)(Properties|Items))$',
    '/(properties|patternProperties|dependentSchemas|\\$defs)/[^/]+$',
    '/(allOf|anyOf|oneOf|prefixItems)/\\d+$',
  ].join('|'),
);

class Bundler {
  readonly #file: string;
  readonly #files = new Map<string, unknown>();
  /** Where in the bundle a part of another file stands, as the value of a `$ref`. */
  readonly #places = new Map<string, string>();
  readonly #schemas: Record<string, unknown> = {};
  readonly #origins = new Map<string, Place>();
  readonly #references: { ref: string; from: Place }[] = [];
  readonly #problems: string[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  /** Reads a file, and those that it references. */
  async read(file: string): Promise<void> {
    if (this.#files.has(file)) return;
    const value = await readYaml(file);
    this.#files.set(file, value);
    for (const ref of referencesIn(value)) {
      if (ref.startsWith('#') || SCHEME.test(ref)) continue;
      await this.read(this.#target(ref, { file, pointer: '' }).file).catch((error: unknown) => {
        // Whether the file is missed, and where, turns out when its reference is followed.
        if (error instanceof DocumentError) throw error;
      });
    }
  }

  bundle(): Document {
    const source = this.#files.get(this.#file);
    if (!isObject(source)) throw new DocumentError(`${this.#file}:1:1 an OpenAPI document is an object at its top`);
    const components = objectAt(source.components);
    Object.assign(this.#schemas, objectAt(components.schemas));
    for (const [group, members] of Object.entries(components)) {
      for (const [name, { $ref }] of Object.entries(objectAt(members)).map(
        ([key, item]) => [key, objectAt(item)] as const,
      )) {
        if (typeof $ref !== 'string' || $ref.startsWith('#')) continue;
        const { file, pointer } = this.#target($ref, { file: this.#file, pointer: '' });
        this.#places.set(`${file}#${pointer}`, `#/components/${group}/${token(name)}`);
      }
    }
    const root = objectAt(this.#walk(source, { file: this.#file, pointer: '' }, ''));
    const schemas = { ...this.#schemas, ...objectAt(objectAt(root.components).schemas) };
    const bundled: Json =
      Object.keys(schemas).length === 0 ? root : { ...root, components: { ...objectAt(root.components), schemas } };
    for (const { ref, from } of this.#references) {
      const why = problemOf(bundled, ref);
      if (why !== undefined) this.#problem(from, why);
    }
    if (this.#problems.length > 0) throw new DocumentError(this.#problems.join('\n'));
    return { file: this.#file, root: bundled, origins: this.#origins };
  }

  #walk(value: unknown, from: Place, at: string): unknown {
    const inside = (key: string | number): [Place, string] => [
      { file: from.file, pointer: `${from.pointer}/${token(key)}` },
      `${at}/${token(key)}`,
    ];
    if (Array.isArray(value)) return value.map((item, index) => this.#walk(item, ...inside(index)));
    if (!isObject(value)) return value;
    if (typeof value.$ref === 'string') return this.#reference(value.$ref, value, from, at);
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        if (key === 'mapping' && at.endsWith('/discriminator')) return [key, this.#mapping(item, ...inside(key))];
        if (typeof item !== 'object' || isData(key, item, at)) return [key, item];
        return [key, this.#walk(item, ...inside(key))];
      }),
    );
  }

  #reference(ref: string, { $ref: _, ...siblings }: Json, from: Place, at: string): unknown {
    const rest = objectAt(this.#walk(siblings, from, at));
    const place = this.#place(ref, from, at);
    if (place === undefined) return rest;
    if (place !== `#${at}`) {
      this.#references.push({ ref: place, from });
      return { ...rest, $ref: place };
    }
    const origin = this.#target(ref, from);
    this.#origins.set(at, origin);
    const drawnIn = this.#walk(valueAt(this.#files.get(origin.file), origin.pointer), origin, at);
    return isObject(drawnIn) ? { ...drawnIn, ...rest } : drawnIn;
  }

  /** What a `$ref` becomes in the bundle: a place there, `at` itself where the part is to be drawn in. */
  #place(ref: string, from: Place, at: string): string | undefined {
    if (SCHEME.test(ref)) return this.#problem(from, `${ref} is not fetched: only files are read`);
    const origin = this.#target(ref, from);
    if (origin.file === this.#file) return `#${origin.pointer}`;
    const key = `${origin.file}#${origin.pointer}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    if (!this.#files.has(origin.file)) return this.#problem(from, `${origin.file} cannot be read`);
    const value = valueAt(this.#files.get(origin.file), origin.pointer);
    if (value === undefined) return this.#problem(from, `$ref leads to nothing: ${ref}`);
    if (!SCHEMA.test(at)) {
      this.#places.set(key, `#${at}`);
      return `#${at}`;
    }
    const name = this.#freeName(origin);
    const place = `/components/schemas/${token(name)}`;
    this.#places.set(key, `#${place}`);
    this.#origins.set(place, origin);
    this.#schemas[name] = {};
    this.#schemas[name] = this.#walk(value, origin, place);
    return `#${place}`;
  }

  /** A mapping's values are references, or names of schemas (OpenAPI 3.1 §4.8.25.4): in the bundle, references. */
  #mapping(mapping: unknown, from: Place, at: string): unknown {
    return Object.fromEntries(
      Object.entries(objectAt(mapping)).map(([value, target]) => {
        if (typeof target !== 'string') return [value, target];
        const isName = Object.hasOwn(this.#schemas, target);
        const place = isName ? `#/components/schemas/${token(target)}` : this.#place(target, from, `${at}/anyOf/0`);
        if (place !== undefined) this.#references.push({ ref: place, from });
        return [value, place];
      }),
    );
  }

  #target(ref: string, from: Place): Place {
    const [path = '', fragment = ''] = ref.split('#');
    return {
      file: path === '' ? from.file : join(dirname(from.file), decodeURIComponent(path)),
      pointer: decodeURIComponent(fragment),
    };
  }

  #freeName({ file, pointer }: Place): string {
    const last = pointer.slice(pointer.lastIndexOf('/') + 1) || basename(file, extname(file));
    const name = last.replace(/[^\w.-]/g, '_');
    let free = name;
    for (let count = 2; Object.hasOwn(this.#schemas, free); count++) free = `${name}${count}`;
    return free;
  }

  #problem({ file, pointer }: Place, message: string): undefined {
    this.#problems.push(`${locate(file, pointer)} ${message}`);
  }
}

function problemOf(root: Json, ref: string): string | undefined {
  if (/^#[^/]/.test(ref))
    return `$ref: ${ref} is an anchor, which is not supported: use a JSON pointer, as #/components/schemas/…`;
  if (valueAt(root, ref) === undefined) return `$ref leads to nothing: ${ref}`;
  try {
    follow(root, { $ref: ref });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return undefined;
}

/** The references that may be in a file: in `$ref`s, and in the mappings of discriminators. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    if (key === '$ref' && typeof item === 'string') return [item];
    if (key !== 'mapping') return referencesIn(item);
    return Object.values(objectAt(item)).filter(
      (target) => typeof target === 'string' && /\.(ya?ml|json)(#|$)/.test(target),
    ) as string[];
  });
}

async function readYaml(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8');
  // js-yaml is several times faster; the other parser knows merge keys, and where a mistake is.
  const quick = /<<["']?\s*:/.test(text) ? undefined : attempt(() => parseYaml(text));
  if (isObject(quick)) return quick;
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, merge: true, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw new DocumentError(`${file}:${line}:${col} ${error.message}`);
  }
  return document.toJS();
}

function attempt(action: () => unknown): unknown {
  try {
    return action();
  } catch {
    return undefined;
  }
}
