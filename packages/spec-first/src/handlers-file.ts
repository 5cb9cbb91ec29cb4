import { dirname, relative, sep } from 'node:path';
import { parse } from '@babel/parser';
import {
  type ImportDeclaration,
  isFunction,
  isImportDeclaration,
  isImportSpecifier,
  type Node,
  type ObjectExpression,
  traverse,
} from '@babel/types';
import MagicString from 'magic-string';
import { messageOf } from './command.ts';
import { propertyName, quoted } from './source-text.ts';
import { TYPES } from './types.ts';

/** A source file that is read but not run. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly ImportDeclaration[];
  readonly objects: readonly {
    readonly literal: ObjectExpression;
    /** The source text of the type that it is declared to have. */
    readonly type: string;
    /** The name of its constant. */
    readonly name: string | undefined;
  }[];
}

const EMPTY_FILE = `import type { Handlers } from 'TYPES';

/** The handlers of the document's operations. Write \`satisfies Handlers\` when none is missing. */
export const handlers = {} satisfies Partial<Handlers>;
`;

/** Reads a source file. @throws {Error} if it is not TypeScript. */
export function readSource(path: string, text: string): SourceFile {
  try {
    const { body } = parse(text, { sourceType: 'module', plugins: ['typescript'] }).program;
    const objects: SourceFile['objects'][number][] = [];
    for (const statement of body) {
      traverse(statement, (node, ancestors) => {
        if (node.type !== 'ObjectExpression') return;
        const outwards = ancestors.map((ancestor) => ancestor.node).reverse();
        objects.push({ literal: node, ...declared(text, outwards) });
      });
    }
    return { path, text, imports: body.filter((statement) => isImportDeclaration(statement)), objects };
  } catch (error) {
    throw new Error(`${path} cannot be parsed: ${messageOf(error)}`);
  }
}

/** How an object literal is declared: by `satisfies` or `as`, by a constant, or as what a function returns. */
function declared(text: string, outwards: readonly Node[]) {
  const textOf = (node: Node | null | undefined) => (node ? text.slice(Number(node.start), Number(node.end)) : '');
  const [first, ...others] = outwards.slice(outwards.findIndex(({ type }) => !/^TS(Satisfies|As)/.test(type)));
  const assertions = outwards.slice(0, outwards.length - others.length - 1);
  const holder = first?.type === 'ReturnStatement' ? others.find((node) => isFunction(node)) : first;
  const name = holder?.type === 'VariableDeclarator' ? holder.id : undefined;
  const [, constant, type = ''] = /^(\w+)(?::(.*))?$/s.exec(textOf(name)) ?? [];
  const returned = isFunction(holder) ? textOf(holder.returnType) : '';
  const asserted = assertions.map((node) => ('typeAnnotation' in node ? textOf(Object(node.typeAnnotation)) : ''));
  return { type: [...asserted, type, returned].join(' '), name: constant };
}

/** Whether a type is that of handlers, under the name that the file gives it. */
const isOfHandlers = ({ text }: SourceFile, type: string): boolean =>
  new RegExp(`\\b${/\bHandlers as (\w+)/.exec(text)?.[1] ?? 'Handlers'}\\b`).test(type);

/** The names of the handlers in source files, each with the path of its file: those of objects that are spread, too. */
export function handledIn(files: readonly SourceFile[]): ReadonlyMap<string, string> {
  const all = files.flatMap((file) => file.objects.map((object) => ({ file, ...object })));
  const spread = new Set(
    all.flatMap(({ literal }) =>
      literal.properties.flatMap((member) =>
        member.type === 'SpreadElement' && member.argument.type === 'Identifier' ? member.argument.name : [],
      ),
    ),
  );
  const ofHandlers = all.filter(({ file, type, name }) => isOfHandlers(file, type) || spread.has(name ?? ''));
  return new Map(
    ofHandlers.flatMap(({ file, literal }) =>
      literal.properties.flatMap((member): [string, string][] => {
        if (member.type === 'SpreadElement' || member.computed) return [];
        if (member.key.type === 'Identifier') return [[member.key.name, file.path]];
        return member.key.type === 'StringLiteral' ? [[member.key.value, file.path]] : [];
      }),
    ),
  );
}

/**
 * Adds a stub for each of these operations to a file of handlers. Only inserts text.
 *
 * @param text the text of the file, which may be empty.
 * @param types the path of the generated file.
 * @throws {Error} if the file has no object of handlers.
 */
export function addStubs(path: string, text: string, ids: readonly string[], types = TYPES): string {
  const place = relative(dirname(path), types).split(sep).join('/');
  const specifier = place.startsWith('.') ? place : `./${place}`;
  const file = readSource(path, text.trim() === '' ? EMPTY_FILE.replace('TYPES', specifier) : text);
  const object = file.objects.find(({ type }) => isOfHandlers(file, type) && !/\b(Pick|Omit)</.test(type));
  if (object === undefined) {
    const example = 'export const handlers = {} satisfies Partial<Handlers>;';
    throw new Error(`${path} has no object of type Handlers. Add one: ${example}`);
  }
  const edit = new MagicString(file.text);
  importNames(edit, file, 'spec-first-server', ['HttpError'], '');
  importNames(edit, file, specifier, ['ReplyTo', 'RequestTo'], 'type ');
  const members = ids.map((id) => [
    `async ${propertyName(id)}(_request: RequestTo<${quoted(id)}>): Promise<ReplyTo<${quoted(id)}>> {`,
    `  throw new HttpError(501, ${quoted(`${id} is not implemented yet`)});`,
    '},',
  ]);
  insertMembers(edit, object.literal, members);
  return /\r\n/.test(text) ? edit.toString().replaceAll(/\r?\n/g, '\r\n') : edit.toString();
}

function insertMembers(edit: MagicString, literal: ObjectExpression, members: readonly (readonly string[])[]): void {
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

/** Imports names into a file that it does not import yet. */
function importNames(
  edit: MagicString,
  { imports }: SourceFile,
  from: string,
  names: readonly string[],
  type: '' | 'type ',
) {
  const known = imports.flatMap(({ specifiers }) => specifiers.map(({ local }) => local.name));
  const missing = names.filter((name) => !known.includes(name));
  if (missing.length === 0) return;
  const target = imports.find(({ source, importKind, specifiers }) => {
    return (
      source.value === from &&
      importKind === (type ? 'type' : 'value') &&
      specifiers.every((name) => isImportSpecifier(name))
    );
  });
  if (target !== undefined)
    return void edit.appendLeft(Number(target.specifiers.at(-1)?.end), `, ${missing.join(', ')}`);
  const statement = `import ${type}{ ${missing.join(', ')} } from '${from}';`;
  // Packages come before the project's own files.
  const own = from.startsWith('.') ? undefined : imports.find(({ source }) => source.value.startsWith('.'));
  if (own !== undefined) edit.appendLeft(Number(own.start), `${statement}\n`);
  else edit.appendLeft(Number(imports.at(-1)?.end ?? 0), imports.length > 0 ? `\n${statement}` : `${statement}\n`);
}
