import { dirname, resolve } from 'node:path';
import { parse } from '@babel/parser';
import {
  type Identifier,
  type ImportDeclaration,
  isFunction,
  isIdentifier,
  isImportDeclaration,
  isImportSpecifier,
  type Node,
  type ObjectExpression,
  type Statement,
  type StringLiteral,
  type TraversalAncestors,
  traverse,
} from '@babel/types';
import { messageOf } from '../command.ts';

/** A source file that is read but not run. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly statements: readonly Statement[];
  readonly imports: readonly ImportDeclaration[];
  /** Its object literals of type `Handlers`, or of a part of it. */
  readonly objects: readonly HandlersObject[];
  /** Its other objects, by the names of their constants. */
  readonly constants: ReadonlyMap<string, ObjectExpression>;
}

/** An object literal of handlers. */
export interface HandlersObject {
  readonly literal: ObjectExpression;
  /** Whether it may have a handler for any operation: `Pick` admits no others. */
  readonly isOpen: boolean;
}

/** Reads a source file. @throws {Error} if it is not TypeScript. */
export function readSource(path: string, text: string): SourceFile {
  const statements = parseStatements(path, text);
  const imports = statements.filter((statement) => isImportDeclaration(statement));
  const names = new Set(
    imports
      .flatMap(({ specifiers }) => specifiers.filter((name) => importedName(name) === 'Handlers'))
      .map(({ local }) => local.name),
  );
  const objects: HandlersObject[] = [];
  const constants = new Map<string, ObjectExpression>();
  for (const statement of statements) {
    traverse(statement, (node, ancestors) => {
      if (node.type !== 'ObjectExpression') return;
      const types = typesOf(ancestors);
      const parent = ancestors.at(-1)?.node;
      if (types.some((type) => mentions(type, names, false))) {
        objects.push({ literal: node, isOpen: types.some((type) => mentions(type, names, true)) });
      } else if (parent?.type === 'VariableDeclarator' && isIdentifier(parent.id)) constants.set(parent.id.name, node);
    });
  }
  return { path, text, statements, imports, objects, constants };
}

function parseStatements(path: string, text: string): readonly Statement[] {
  try {
    return parse(text, { sourceType: 'module', plugins: ['typescript'] }).program.body;
  } catch (error) {
    throw new Error(`${path} cannot be parsed: ${messageOf(error)}`);
  }
}

/** Whether an import statement of a file names a module: a package, or a file by its path without extension. */
export function importsFrom({ path }: SourceFile, { source }: ImportDeclaration, specifier: string): boolean {
  const full = (name: string) => (name.startsWith('.') ? resolve(dirname(path), name).replace(/\.[jt]s$/, '') : name);
  return full(source.value) === full(specifier);
}

/** The name that an import specifier imports, if it is not a whole module. */
export const importedName = (specifier: Node): string | undefined =>
  isImportSpecifier(specifier) ? nameOf(specifier.imported) : undefined;

const nameOf = (name: Identifier | StringLiteral): string => (isIdentifier(name) ? name.name : name.value);

/** The types that an object literal is declared to have: by `satisfies` or `as`, by a constant, or as what is returned. */
function typesOf(ancestors: TraversalAncestors): Node[] {
  const outwards = ancestors.map(({ node }) => node).reverse();
  const types: Node[] = [];
  let parent = outwards.shift();
  for (; parent?.type === 'TSSatisfiesExpression' || parent?.type === 'TSAsExpression'; parent = outwards.shift()) {
    types.push(parent.typeAnnotation);
  }
  if (parent?.type === 'ReturnStatement') parent = outwards.find((node) => isFunction(node));
  let annotation: Node | null | undefined;
  if (parent?.type === 'VariableDeclarator' && isIdentifier(parent.id)) annotation = parent.id.typeAnnotation;
  else if (isFunction(parent)) annotation = parent.returnType;
  if (annotation?.type === 'TSTypeAnnotation') types.push(annotation.typeAnnotation);
  return types;
}

/** Whether a type is one of these names, or has one as an argument, such as `Promise<Partial<Handlers>>`. */
function mentions(type: Node, names: ReadonlySet<string>, isOpen: boolean): boolean {
  if (type.type !== 'TSTypeReference') return false;
  const name = isIdentifier(type.typeName) ? type.typeName.name : '';
  if (names.has(name)) return true;
  if (isOpen && /^(Pick|Omit)$/.test(name)) return false;
  return (type.typeArguments?.params ?? []).some((argument) => mentions(argument, names, isOpen));
}
