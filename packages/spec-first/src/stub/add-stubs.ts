import { dirname, relative, sep } from 'node:path';
import { isImportSpecifier } from '@babel/types';
import MagicString from 'magic-string';
import { propertyName, quoted } from '../source-text.ts';
import { TYPES } from '../types.ts';
import { type HandlersObject, importedName, importsFrom, readSource, type SourceFile } from './source-file.ts';

const EMPTY_FILE = `import type { Handlers } from 'TYPES';

/** The handlers of the document's operations. Write \`satisfies Handlers\` when none is missing. */
export const handlers = {} satisfies Partial<Handlers>;
`;

/**
 * Adds a stub for each of these operations to a file of handlers. Only inserts text.
 *
 * @param text the text of the file, which may be empty.
 * @param types the path of the generated file.
 * @throws {Error} if the file has no object of handlers.
 */
export function addStubs(path: string, text: string, ids: readonly string[], types = TYPES): string {
  const specifier = specifierOf(types, path);
  const file = readSource(path, text.trim() === '' ? EMPTY_FILE.replace('TYPES', specifier) : text);
  const object = file.objects.find(({ isOpen }) => isOpen);
  if (object === undefined) {
    const example = 'export const handlers = {} satisfies Partial<Handlers>;';
    throw new Error(`${path} has no object of type Handlers. Add one: ${example}`);
  }
  const edit = new MagicString(file.text);
  const error = importNames(edit, file, 'spec-first-server', ['HttpError'], false);
  const type = importNames(edit, file, specifier, ['ReplyTo', 'RequestTo'], true);
  insertMembers(
    edit,
    object,
    ids.map((id) => [
      `async ${propertyName(id)}(_request: ${type('RequestTo')}<${quoted(id)}>): Promise<${type('ReplyTo')}<${quoted(id)}>> {`,
      `  throw new ${error('HttpError')}(501, ${quoted(`${id} is not implemented yet`)});`,
      '},',
    ]),
  );
  return /\r\n/.test(text) ? edit.toString().replaceAll(/\r?\n/g, '\r\n') : edit.toString();
}

function insertMembers(edit: MagicString, { literal }: HandlersObject, members: readonly (readonly string[])[]): void {
  const text = edit.original;
  const start = Number(literal.start);
  const end = Number(literal.end) - 1;
  const lineBefore = (offset: number) => text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  const last = literal.properties.at(-1);
  const lastIndent = last && lineBefore(Number(last.start));
  const indent = /^[ \t]*/.exec(lineBefore(start))?.[0] ?? '';
  const inner = lastIndent?.trim() === '' ? lastIndent : `${indent}  `;
  const lines = members.map((member) => member.map((line) => `${inner}${line}\n`).join('')).join('');
  if (last && !literal.extra?.trailingComma) edit.appendLeft(Number(last.end), ',');
  if (lineBefore(end).trim() === '') edit.appendLeft(end - lineBefore(end).length, lines);
  else edit.appendLeft(end, `\n${lines}${indent}`);
}

/** Imports names into a file that it does not import yet. Returns what the local name of each is. */
function importNames(
  edit: MagicString,
  file: SourceFile,
  specifier: string,
  names: readonly string[],
  areTypes: boolean,
) {
  const local = new Map<string, string>();
  const statements = file.imports.filter((statement) => importsFrom(file, statement, specifier));
  const usable = statements.filter(({ importKind }) => areTypes || importKind !== 'type');
  for (const name of usable.flatMap(({ specifiers }) => specifiers)) {
    const isType = isImportSpecifier(name) && name.importKind === 'type';
    if (areTypes || !isType) local.set(importedName(name) ?? '', name.local.name);
  }
  const missing = names.filter((name) => !local.has(name));
  const list = usable.find(({ specifiers }) => specifiers.some((name) => isImportSpecifier(name)));
  const keyword = areTypes && list?.importKind !== 'type' ? 'type ' : '';
  if (list !== undefined) {
    for (const name of missing) edit.appendLeft(Number(list.specifiers.at(-1)?.end), `, ${keyword}${name}`);
  } else if (missing.length > 0) {
    const statement = `import ${keyword}{ ${missing.join(', ')} } from '${specifier}';`;
    const own = file.imports.find(({ source }) => source.value.startsWith('.'));
    const last = file.imports.at(-1);
    // Packages come before the project's own files.
    if (last === undefined) edit.appendLeft(Number(file.statements[0]?.start ?? 0), `${statement}\n\n`);
    else if (own === undefined || specifier.startsWith('.')) edit.appendLeft(Number(last.end), `\n${statement}`);
    else edit.appendLeft(Number(own.start), `${statement}\n`);
  }
  return (name: string): string => local.get(name) ?? name;
}

/** How a file imports another one. */
function specifierOf(target: string, file: string): string {
  const path = relative(dirname(file), target).split(sep).join('/');
  return path.startsWith('.') ? path : `./${path}`;
}
