import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// TypeScript 7 in the root has no API.
import ts from '../packages/spec-first/node_modules/typescript/lib/typescript.js';
import { pack } from './pack.ts';

/** A file with the public names of each library in its last release. */
export const RELEASED_NAMES = join(import.meta.dirname, '../.changeset/public-names.json');

interface Manifest {
  readonly exports?: Readonly<Record<string, string | { readonly types?: string }>>;
}

/**
 * Lists the public names of a packed library: the exports of its entries, and the members of
 * exported interfaces and classes. Each begins with its entry and a space: `. serve`,
 * `. ServeOptions.open`.
 *
 * @param folder the unpacked tarball, with its declarations.
 */
export function publicNames(folder: string): string[] {
  const { exports = {} }: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const entries = Object.entries(exports).flatMap(([entry, target]) => {
    const types = typeof target === 'string' ? undefined : target.types;
    return types === undefined ? [] : [{ entry, file: join(folder, types) }];
  });
  const program = ts.createProgram({
    rootNames: entries.map(({ file }) => file),
    options: { noLib: true, types: [] },
  });
  const checker = program.getTypeChecker();
  const names = entries.flatMap(({ entry, file }) => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    const symbols = module ? checker.getExportsOfModule(module) : [];
    return symbols.flatMap((symbol) => namesOf(symbol, checker)).map((name) => `${entry} ${name}`);
  });
  return [...new Set(names)].sort();
}

function namesOf(symbol: ts.Symbol, checker: ts.TypeChecker): string[] {
  const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
  const original = isAlias ? checker.getAliasedSymbol(symbol) : symbol;
  const hasMembers = (original.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class)) !== 0;
  // The static members of a class are its exports.
  const tables = hasMembers ? [original.members, original.exports] : [];
  const members = tables.flatMap((table) => [...(table?.values() ?? [])]).filter(isPublicMember);
  return [symbol.name, ...members.map((member) => `${symbol.name}.${memberName(member)}`)];
}

const memberName = ({ flags, name }: ts.Symbol): string =>
  flags & ts.SymbolFlags.Constructor ? 'constructor' : name;

/** Returns false for type parameters, signatures and private members. */
function isPublicMember({ flags, name, declarations = [] }: ts.Symbol): boolean {
  const { Constructor, Property, Method, Accessor, Prototype } = ts.SymbolFlags;
  return (
    (flags & (Constructor | Property | Method | Accessor)) !== 0 &&
    (flags & Prototype) === 0 &&
    /^\w+$/.test(name) &&
    !declarations.some(
      (declaration) => ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Private,
    )
  );
}

export function publicNamesOfAll(tarballs: ReadonlyMap<string, string>): Record<string, string[]> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'public-names-'));
  const entries = [...tarballs].map(([name, tarball]) => {
    const target = join(folder.path, name);
    mkdirSync(target);
    execFileSync('tar', ['xzf', tarball, '-C', target, '--strip-components=1']);
    return [name, publicNames(target)] as const;
  });
  return Object.fromEntries(entries);
}

// `npm run release` writes the names of this release, to compare the next one with it.
if (import.meta.main) {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'packed-'));
  const names = publicNamesOfAll(pack(folder.path));
  writeFileSync(RELEASED_NAMES, `${JSON.stringify(names, undefined, 2)}\n`);
}
