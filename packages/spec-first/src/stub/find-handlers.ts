import { dirname } from 'node:path';
import type TypeScript from 'typescript';

/** The object literal of the handlers in a source file. */
export interface HandlersObject {
  /** The names of its members, also of those that it spreads. */
  readonly names: ReadonlySet<string>;
  /** The offsets of its braces. */
  readonly start: number;
  readonly end: number;
  /** Where a comma is missing after the last member. */
  readonly comma: number | undefined;
  /** The white space before its last member, if that begins a line. */
  readonly memberIndent: string | undefined;
}

/** Finds the first object literal that is declared to be `Handlers`, or a part of it as `Partial<Handlers>`. */
export function findHandlers(
  ts: typeof TypeScript,
  source: TypeScript.SourceFile,
  isNew: boolean,
): HandlersObject | undefined {
  const names = new Set(isNew ? ['Handlers'] : localNames(ts, source, 'Handlers'));
  let found: TypeScript.ObjectLiteralExpression | undefined;
  const visit = (node: TypeScript.Node): void => {
    if (found !== undefined) return;
    if (ts.isObjectLiteralExpression(node) && isTyped(ts, node, names)) found = node;
    else ts.forEachChild(node, visit);
  };
  visit(source);
  return found && describe(ts, source, found);
}

/** The names under which a file imports a name. */
function localNames(ts: typeof TypeScript, source: TypeScript.SourceFile, imported: string): string[] {
  return source.statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement)) return [];
    const bindings = statement.importClause?.namedBindings;
    if (bindings === undefined || !ts.isNamedImports(bindings)) return [];
    return bindings.elements
      .filter(({ name, propertyName = name }) => propertyName.text === imported)
      .map(({ name }) => name.text);
  });
}

/** Whether an object literal is declared to be of a type: by `satisfies` or `as`, by a variable, or as what is returned. */
function isTyped(
  ts: typeof TypeScript,
  literal: TypeScript.ObjectLiteralExpression,
  names: ReadonlySet<string>,
): boolean {
  let node: TypeScript.Node = literal;
  for (let { parent } = node; ; { parent } = node) {
    if (ts.isSatisfiesExpression(parent) || ts.isAsExpression(parent)) {
      if (mentions(ts, parent.type, names)) return true;
    } else if (!ts.isParenthesizedExpression(parent)) break;
    node = parent;
  }
  const { parent } = node;
  if (ts.isVariableDeclaration(parent) || ts.isArrowFunction(parent)) return mentions(ts, parent.type, names);
  if (!ts.isReturnStatement(parent)) return false;
  let around: TypeScript.Node = parent;
  while (!ts.isFunctionLike(around) && !ts.isSourceFile(around)) around = around.parent;
  return ts.isFunctionLike(around) && mentions(ts, around.type, names);
}

/** Whether a type is one of these names, or a type such as `Promise<Partial<Handlers>>`. `Pick` admits no new members. */
function mentions(ts: typeof TypeScript, type: TypeScript.TypeNode | undefined, names: ReadonlySet<string>): boolean {
  if (type === undefined || !ts.isTypeReferenceNode(type)) return false;
  const name = ts.isIdentifier(type.typeName) ? type.typeName.text : '';
  if (names.has(name)) return true;
  if (name === 'Pick' || name === 'Omit') return false;
  return (type.typeArguments ?? []).some((argument) => mentions(ts, argument, names));
}

function describe(
  ts: typeof TypeScript,
  source: TypeScript.SourceFile,
  literal: TypeScript.ObjectLiteralExpression,
): HandlersObject {
  const { properties } = literal;
  const last = properties.at(-1);
  const before = last && source.text.slice(source.text.lastIndexOf('\n', last.getStart()) + 1, last.getStart());
  const hasSpread = properties.some(ts.isSpreadAssignment);
  return {
    names: hasSpread ? namesByType(ts, source, literal) : namesIn(ts, literal),
    start: literal.getStart(),
    end: literal.end - 1,
    comma: last === undefined || properties.hasTrailingComma ? undefined : last.end,
    memberIndent: before?.trim() === '' ? before : undefined,
  };
}

const namesIn = (ts: typeof TypeScript, { properties }: TypeScript.ObjectLiteralExpression): Set<string> =>
  new Set(
    properties.flatMap(({ name }) =>
      name !== undefined && (ts.isIdentifier(name) || ts.isStringLiteralLike(name)) ? [name.text] : [],
    ),
  );

/** The names that the compiler sees in an object with spread members. It has to read the other files. */
function namesByType(
  ts: typeof TypeScript,
  source: TypeScript.SourceFile,
  literal: TypeScript.ObjectLiteralExpression,
): Set<string> {
  const path = ts.findConfigFile(dirname(source.fileName), ts.sys.fileExists);
  const config = path === undefined ? {} : ts.readConfigFile(path, ts.sys.readFile).config;
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, path === undefined ? '.' : dirname(path));
  const program = ts.createProgram([source.fileName], { ...options, noEmit: true });
  let names = namesIn(ts, literal);
  const visit = (node: TypeScript.Node): void => {
    if (node.pos === literal.pos && node.end === literal.end && ts.isObjectLiteralExpression(node)) {
      const type = program.getTypeChecker().getTypeAtLocation(node);
      names = names.union(new Set(type.getProperties().map(({ name }) => name)));
    } else ts.forEachChild(node, visit);
  };
  const read = program.getSourceFile(source.fileName);
  if (read !== undefined) visit(read);
  return names;
}
