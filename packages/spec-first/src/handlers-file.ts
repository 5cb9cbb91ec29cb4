import { readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { parse } from '@babel/parser';
import { isFunction, isImportDeclaration, isImportSpecifier, type Node, traverse } from '@babel/types';
import MagicString from 'magic-string';
import { messageOf } from './command.ts';
import { propertyName, quoted, TYPES } from './types.ts';

const EMPTY_FILE = join(import.meta.dirname, '../templates/project/src/handlers.ts');

/** The imports of a TypeScript file, and its object literals that are declared as `Handlers` or a part of them. */
function readSource(path: string, text: string) {
  try {
    const { body } = parse(text, { sourceType: 'module', plugins: ['typescript'] }).program;
    const objects: { names: string[]; isWhole: boolean; start: number }[] = [];
    for (const statement of body) {
      traverse(statement, (node, ancestors) => {
        if (node.type !== 'ObjectExpression') return;
        const type = typeAround(text, ancestors.map((ancestor) => ancestor.node).reverse());
        if (!/\bHandlers\b/.test(type)) return;
        const names = node.properties.flatMap((member) => {
          if (member.type === 'SpreadElement' || member.computed) return [];
          if (member.key.type === 'Identifier') return member.key.name;
          return member.key.type === 'StringLiteral' ? member.key.value : [];
        });
        const isWhole = !/\b(Pick|Omit)</.test(type);
        objects.push({ names, isWhole, start: Number(node.start) + 1 });
      });
    }
    return { imports: body.filter((statement) => isImportDeclaration(statement)), objects };
  } catch (error) {
    throw new Error(`${path} cannot be parsed: ${messageOf(error)}`);
  }
}

/** The source text of the types that an object has by `satisfies` or `as`, by its constant, or as what a function returns. */
function typeAround(text: string, outwards: readonly Node[]): string {
  const end = outwards.findIndex(({ type }) => !/^(TS\w+Expression|(Return|Block|If)Statement)$/.test(type));
  const types = outwards.slice(0, end + 1).map((node) => {
    if (isFunction(node)) return node.returnType;
    if (node.type === 'VariableDeclarator') return node.id;
    return 'typeAnnotation' in node ? Object(node.typeAnnotation) : undefined;
  });
  return types.map((type) => (type ? text.slice(Number(type.start), Number(type.end)) : '')).join(' ');
}

/** The names of the handlers in a source file. @throws {Error} if it is not TypeScript. */
export const handledIn = (path: string, text: string): string[] =>
  readSource(path, text).objects.flatMap(({ names }) => names);

/**
 * Adds a stub for each of these operations to a file of handlers, before those that are there. Only inserts text.
 *
 * @param text the text of the file, which may be empty.
 * @param types the path of the generated file.
 * @throws {Error} if the file has no object of handlers.
 */
export function addStubs(path: string, text: string, ids: readonly string[], types = TYPES): string {
  const place = relative(dirname(path), types).split(sep).join('/');
  const specifier = place.startsWith('.') ? place : `./${place}`;
  const source = text.trim() === '' ? readFileSync(EMPTY_FILE, 'utf8').replace(`../${TYPES}`, specifier) : text;
  const { imports, objects } = readSource(path, source);
  const object = objects.find(({ isWhole }) => isWhole);
  if (object === undefined) {
    const example = 'export const handlers = {} satisfies Partial<Handlers>;';
    throw new Error(`${path} has no object of type Handlers. Add one: ${example}`);
  }
  const edit = new MagicString(source);
  const known = imports.flatMap(({ specifiers }) => specifiers.map(({ local }) => local.name));
  const importNames = (from: string, kind: 'type' | 'value', names: readonly string[]) => {
    const missing = names.filter((name) => !known.includes(name)).join(', ');
    if (missing === '') return;
    const last = imports
      .filter((statement) => statement.source.value === from && statement.importKind === kind)
      .flatMap(({ specifiers }) => specifiers.filter((name) => isImportSpecifier(name)))
      .at(-1);
    const statement = `import ${kind === 'type' ? 'type ' : ''}{ ${missing} } from '${from}';\n`;
    edit.appendLeft(Number((last ? last.end : imports[0]?.start) ?? 0), last ? `, ${missing}` : statement);
  };
  importNames('spec-first-server', 'value', ['HttpError']);
  importNames(specifier, 'type', ['ReplyTo', 'RequestTo']);
  const indent = /^[ \t]*/.exec(source.slice(source.lastIndexOf('\n', object.start - 1) + 1))?.[0] ?? '';
  const stubs = ids.map(
    (id) => `
${indent}  async ${propertyName(id)}(_request: RequestTo<${quoted(id)}>): Promise<ReplyTo<${quoted(id)}>> {
${indent}    throw new HttpError(501, ${quoted(`${id} is not implemented yet`)});
${indent}  },`,
  );
  edit.appendLeft(object.start, `${stubs.join('')}${source.startsWith('}', object.start) ? `\n${indent}` : ''}`);
  return text.includes('\r\n') ? edit.toString().replaceAll(/\r?\n/g, '\r\n') : edit.toString();
}
