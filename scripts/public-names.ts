import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pack } from './pack.ts';

/** A file with the public names of each library in its last release. */
export const RELEASED_NAMES = join(import.meta.dirname, '../.changeset/public-names.json');

interface Manifest {
  readonly exports?: Readonly<Record<string, string | { readonly types?: string }>>;
}

/**
 * Lists the public names of a packed library: the exports of entries, and the members of exported
 * interfaces and classes, such as `. serve` and `. ServeOptions.open`.
 *
 * @param folder the unpacked tarball, with its declarations.
 */
export function publicNames(folder: string): string[] {
  const { exports = {} }: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const names = Object.entries(exports).flatMap(([entry, target]) => {
    const types = typeof target === 'string' ? undefined : target.types;
    if (types === undefined || !existsSync(join(folder, types))) return [];
    return [...exportsOf(join(folder, types))].map((name) => `${entry} ${name}`);
  });
  return [...new Set(names)].sort();
}

const DECLARATION = new RegExp(
  '^export (?:(?:declare|abstract|async) )*(?:const|function|class|interface|type) ' +
    String.raw`(\w+)(.*?)(?=^export |^declare |^interface |^type |$(?!\n))`,
  'gms',
);
const LIST = /^export (?:type )?\{([^}]*)\}(?: from '([^']+)')?;/gm;
const NAMESPACE = /^export \* as (\w+) from '[^']+';/gm;
const EVERYTHING = /^export \* from '([^']+)';/gm;
const MEMBER = /^ {4}(?:static )?(?:readonly )?(\w+)\??[(:<]/gm;

function* exportsOf(file: string): Generator<string> {
  const text = readFileSync(file, 'utf8').replace(/\/\*.*?\*\//gs, '');
  const fileOf = (specifier: string) =>
    join(dirname(file), specifier.replace(/\.(?:js|ts)$/, '.d.ts'));

  for (const [, name = '', body = ''] of text.matchAll(DECLARATION)) yield* membersOf(name, body);
  for (const [, name = ''] of text.matchAll(NAMESPACE)) yield name;
  for (const [, specifier = ''] of text.matchAll(EVERYTHING)) yield* exportsOf(fileOf(specifier));
  for (const [, list = '', specifier] of text.matchAll(LIST)) {
    for (const item of list.split(',').map((each) => each.trim().replace(/^type /, ''))) {
      const [original = '', name = original] = item.split(' as ');
      if (name === '') continue;
      const isRelative = specifier?.startsWith('.') === true;
      const source = isRelative ? [...exportsOf(fileOf(specifier))] : [original];
      const isPart = (each: string) => each === original || each.startsWith(`${original}.`);
      for (const each of source.filter(isPart)) yield name + each.slice(original.length);
    }
  }
}

function* membersOf(name: string, body: string): Generator<string> {
  yield name;
  for (const [, member] of body.matchAll(MEMBER)) yield `${name}.${member}`;
}

/** Returns the public names of each packed library, by the name of the library. */
export function publicNamesOfAll(tarballs: ReadonlyMap<string, string>): Record<string, string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'public-names-'));
  try {
    const entries = [...tarballs].map(([name, tarball]) => {
      const target = join(folder, name);
      mkdirSync(target);
      execFileSync('tar', ['xzf', tarball, '-C', target, '--strip-components=1']);
      return [name, publicNames(target)] as const;
    });
    return Object.fromEntries(entries);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// `npm run release` writes the names of this release, to compare the next one with it.
if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'packed-'));
  const names = publicNamesOfAll(pack(folder));
  rmSync(folder, { recursive: true });
  writeFileSync(RELEASED_NAMES, `${JSON.stringify(names, undefined, 2)}\n`);
}
