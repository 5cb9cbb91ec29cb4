import { dirname, relative, resolve, sep } from 'node:path';
import type TypeScript from 'typescript';
import type { Insertion } from './insert.ts';

/** What a source file needs from a module. */
export interface Wanted {
  readonly specifier: string;
  readonly names: readonly string[];
  /** Whether the names are those of types. */
  readonly asTypes: boolean;
}

/**
 * Makes names of other modules available in a source file.
 *
 * @returns the local name of each, and the texts to insert for those that the file does not import yet.
 */
export function importNames(ts: typeof TypeScript, source: TypeScript.SourceFile, wanted: readonly Wanted[]) {
  const imports = source.statements.filter(ts.isImportDeclaration);
  const names = new Map<string, string>();
  const insertions: Insertion[] = [];
  const statements: ImportText[] = [];

  for (const { specifier, names: all, asTypes } of wanted) {
    const lists = namedImports(ts, source, imports, specifier);
    for (const { elements, isType } of lists) {
      for (const { name, propertyName = name, isTypeOnly } of elements) {
        if (all.includes(propertyName.text) && (asTypes || !(isType || isTypeOnly))) {
          names.set(propertyName.text, name.text);
        }
      }
    }
    const missing = all.filter((name) => !names.has(name)).toSorted();
    const list = lists.find(({ isType, elements }) => (asTypes || !isType) && elements.length > 0);
    if (list !== undefined) insertions.push(...missing.map((name) => inList(list, name, asTypes)));
    else if (missing.length > 0) {
      const text = `import ${asTypes ? 'type ' : ''}{ ${missing.join(', ')} } from '${specifier}';`;
      statements.push({ text, isRelative: specifier.startsWith('.') });
    }
  }
  insertions.push(...newImports(ts, source, imports, statements));
  return { names, insertions };
}

interface ImportText {
  readonly text: string;
  readonly isRelative: boolean;
}

/** New import statements after those that are there. Packages come before the project's own files. */
function newImports(
  ts: typeof TypeScript,
  { text: source }: TypeScript.SourceFile,
  imports: readonly TypeScript.ImportDeclaration[],
  statements: readonly ImportText[],
): Insertion[] {
  const last = imports.at(-1);
  if (last === undefined) {
    const text = statements.map((statement) => `${statement.text}\n`).join('');
    return text === '' ? [] : [{ at: ts.getShebang(source)?.length ?? 0, text: `${text}\n` }];
  }
  const own = imports.find(({ moduleSpecifier: name }) => ts.isStringLiteral(name) && name.text.startsWith('.'));
  return statements.map(({ text, isRelative }) =>
    isRelative || own === undefined ? { at: last.end, text: `\n${text}` } : { at: own.getStart(), text: `${text}\n` },
  );
}

interface NamedImports {
  /** Whether the statement is `import type`. */
  readonly isType: boolean;
  readonly elements: readonly TypeScript.ImportSpecifier[];
}

/** The lists of names that a file imports from a module. */
function namedImports(
  ts: typeof TypeScript,
  { fileName }: TypeScript.SourceFile,
  imports: readonly TypeScript.ImportDeclaration[],
  specifier: string,
): NamedImports[] {
  const path = (name: string) =>
    name.startsWith('.') ? resolve(dirname(fileName), name).replace(/\.[jt]s$/, '') : name;
  return imports.flatMap(({ moduleSpecifier, importClause: clause }) => {
    if (!ts.isStringLiteral(moduleSpecifier) || path(moduleSpecifier.text) !== path(specifier)) return [];
    const bindings = clause?.namedBindings;
    if (clause === undefined || bindings === undefined || !ts.isNamedImports(bindings)) return [];
    return [{ isType: clause.isTypeOnly, elements: bindings.elements }];
  });
}

/** Adds a name to a list of imports, in alphabetical order. */
function inList({ isType, elements }: NamedImports, name: string, asType: boolean): Insertion {
  const text = asType && !isType ? `type ${name}` : name;
  const after = elements.find((element) => element.name.text > name);
  return after === undefined
    ? { at: elements.at(-1)?.end ?? 0, text: `, ${text}` }
    : { at: after.getStart(), text: `${text}, ` };
}

/** How a file imports another one. */
export function specifierOf(target: string, file: string): string {
  const path = relative(dirname(file), target).split(sep).join('/');
  return path.startsWith('.') ? path : `./${path}`;
}
