import { readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { parse } from '@babel/parser';
import {
  type ImportDeclaration,
  isFunction,
  isImportDeclaration,
  isImportSpecifier,
  type Node,
  traverse,
} from '@babel/types';
import MagicString from 'magic-string';
import { conflictIn } from 'openapi-document';
import { messageOf } from './command.ts';
import { propertyName, quoted, TYPES } from './types.ts';

const EMPTY_FILE = join(import.meta.dirname, '../templates/project/src/handlers.ts');

/** The handlers in a TypeScript file. */
interface HandlersFile {
  readonly imports: readonly ImportDeclaration[];
  /** The ids of the operations with a handler. */
  readonly operationIds: readonly string[];
  /** The position after the opening brace of the object for all handlers, if there is one. */
  readonly start: number | undefined;
}

/**
 * Finds the handlers in a TypeScript file: the members of object literals whose type is `Handlers`,
 * or a part of it such as `Pick<Handlers, 'a'>`.
 *
 * @throws {Error} if the text cannot be parsed.
 */
export function readHandlers(path: string, text: string): HandlersFile {
  const conflict = conflictIn(text);
  if (conflict !== undefined) throw new Error(`${path}:${conflict}`);
  const operationIds: string[] = [];
  let start: number | undefined;
  // Cheap check first: most files have no handlers.
  if (!/\bHandlers\b/.test(text)) return { imports: [], operationIds, start };
  try {
    const { program } = parse(text, { sourceType: 'module', plugins: ['typescript'] });
    traverse(program, (node, ancestors) => {
      if (node.type !== 'ObjectExpression') return;
      const type = typeAround(text, ancestors.map((ancestor) => ancestor.node).reverse());
      if (!/\bHandlers\b/.test(type)) return;
      if (!/\b(Pick|Omit)</.test(type)) start ??= Number(node.start) + 1;
      for (const member of node.properties) {
        if (member.type === 'SpreadElement' || member.computed) continue;
        if (member.key.type === 'Identifier') operationIds.push(member.key.name);
        if (member.key.type === 'StringLiteral') operationIds.push(member.key.value);
      }
    });
    const imports = program.body.filter((statement) => isImportDeclaration(statement));
    return { imports, operationIds, start };
  } catch (error) {
    throw new Error(`${path} cannot be parsed: ${messageOf(error)}`);
  }
}

/**
 * Returns the source text of the types of an object: of `satisfies` or `as`, of its constant, or of
 * the function that returns it.
 */
function typeAround(text: string, outwards: readonly Node[]): string {
  const end = outwards.findIndex(
    ({ type }) => !/^(TS\w+Expression|(Return|Block|If)Statement)$/.test(type),
  );
  const types = outwards.slice(0, end + 1).map((node) => {
    if (isFunction(node)) return node.returnType;
    if (node.type === 'VariableDeclarator') return node.id;
    return 'typeAnnotation' in node ? Object(node.typeAnnotation) : undefined;
  });
  return types
    .map((type) => (type ? text.slice(Number(type.start), Number(type.end)) : ''))
    .join(' ');
}

/**
 * Adds stubs of operations to the text of a file with handlers, before the other handlers, and the
 * imports that the stubs need.
 *
 * @param text the text of the file. If it is blank, that of the template is used.
 * @param types the path of the generated file.
 * @throws {Error} if the file has no object of type `Handlers`.
 */
export function addStubs(
  path: string,
  text: string,
  ids: readonly string[],
  types = TYPES,
): string {
  const place = relative(dirname(path), types).split(sep).join('/');
  const specifier = place.startsWith('.') ? place : `./${place}`;
  const source =
    text.trim() === '' ? readFileSync(EMPTY_FILE, 'utf8').replace(`../${TYPES}`, specifier) : text;
  const { imports, start } = readHandlers(path, source);
  if (start === undefined) {
    const example = 'export const handlers = {} satisfies Partial<Handlers>;';
    throw new Error(`${path} has no object of type Handlers. Add one: ${example}`);
  }
  const edit = new MagicString(source);
  addImport(edit, imports, 'spec-first-server', 'import', ['HttpError']);
  addImport(edit, imports, specifier, 'import type', ['ReplyTo', 'RequestTo']);

  const line = source.slice(source.lastIndexOf('\n', start - 1) + 1);
  const indent = line.replace(/[^ \t][\s\S]*/, '');
  for (const id of ids) {
    const name = quoted(id);
    const types = `(_request: RequestTo<${name}>): Promise<ReplyTo<${name}>>`;
    const lines = [
      `  async ${propertyName(id)}${types} {`,
      `    throw new HttpError(501, ${quoted(`${id} is not implemented yet`)});`,
      '  },',
    ];
    edit.appendLeft(start, lines.map((line) => `\n${indent}${line}`).join(''));
  }
  if (source.startsWith('}', start)) edit.appendLeft(start, `\n${indent}`);
  return text.includes('\r\n') ? edit.toString().replaceAll(/\r?\n/g, '\r\n') : edit.toString();
}

/** Adds names to the import of a module, or a new import before the others. */
function addImport(
  edit: MagicString,
  imports: readonly ImportDeclaration[],
  from: string,
  keyword: 'import' | 'import type',
  names: readonly string[],
): void {
  const imported = imports.flatMap(({ specifiers }) => specifiers.map(({ local }) => local.name));
  const missing = names.filter((name) => !imported.includes(name)).join(', ');
  if (missing === '') return;
  const kind = keyword === 'import' ? 'value' : 'type';
  const last = imports
    .filter((statement) => statement.source.value === from && statement.importKind === kind)
    .flatMap(({ specifiers }) => specifiers.filter((name) => isImportSpecifier(name)))
    .at(-1);
  if (last) edit.appendLeft(Number(last.end), `, ${missing}`);
  else edit.appendLeft(imports[0]?.start ?? 0, `${keyword} { ${missing} } from '${from}';\n`);
}
