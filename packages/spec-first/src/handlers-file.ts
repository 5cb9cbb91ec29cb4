import { readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { conflictIn } from 'openapi-document';
import ts from 'typescript';
import { propertyName, quoted, TYPES } from './types.ts';

const EMPTY_FILE = join(import.meta.dirname, '../templates/project/src/handlers.ts');

/** Matches `Handlers` and types such as `Partial<Handlers>`, but not `{ a: Handlers }`. */
const HANDLERS = /(^|&\s*)((Partial|Readonly|Pick|Omit|Promise)<\s*)*([^{<]*\.)?Handlers\b/;

/**
 * Finds the handlers in a TypeScript file: the members of object literals whose type is `Handlers`,
 * or a part of it such as `Pick<Handlers, 'a'>`.
 *
 * @returns the imports of the file, the ids of the operations with a handler, and the position
 *   after the opening brace of the first object that may have all handlers, if there is one.
 * @throws {Error} if the text has a merge conflict, or if it contains `Handlers` and cannot be
 *   parsed.
 */
export function readHandlers(path: string, text: string) {
  const conflict = conflictIn(text);
  if (conflict !== undefined) throw new Error(`${path}:${conflict}`);
  const operationIds: string[] = [];
  let start: number | undefined;
  // Cheap check first: most files have no handlers.
  if (!/\bHandlers\b/.test(text)) return { imports: [], operationIds, start };
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const { diagnostics: [error] = [] } = ts.transpileModule(text, { reportDiagnostics: true });
  if (error !== undefined) {
    const { line, character } = source.getLineAndCharacterOfPosition(Number(error.start));
    const reason = ts.flattenDiagnosticMessageText(error.messageText, ' ');
    throw new Error(`${path}:${line + 1}:${character + 1} cannot be parsed: ${reason}`);
  }
  visit(source);
  const imports = source.statements.filter((statement) => ts.isImportDeclaration(statement));
  return { imports, operationIds, start };

  function visit(node: ts.Node): void {
    if (ts.isObjectLiteralExpression(node)) addObject(node);
    ts.forEachChild(node, visit);
  }

  function addObject({ parent, properties }: ts.ObjectLiteralExpression): void {
    const types = typesAround(parent).filter((type) => HANDLERS.test(type));
    if (types.length === 0) return;
    if (!/\b(Pick|Omit)</.test(types.join())) start ??= properties.pos;
    for (const { name } of properties) {
      if (name && (ts.isIdentifier(name) || ts.isStringLiteral(name))) operationIds.push(name.text);
    }
  }
}

/** Nodes between an object literal and the declaration or function that has its type. */
const BETWEEN =
  /^((Satisfies|As|TypeAssertion|NonNull|Parenthesized)Expression|(Return|If)Statement|Block)$/;

/**
 * Returns the type annotations of an object literal as text: `satisfies`, `as`, the type of its
 * constant, or the return type of its function.
 */
function typesAround(node: ts.Node): string[] {
  const type: ts.TypeNode | undefined = Object(node).type;
  const types = type === undefined ? [] : [type.getText()];
  const isBetween = BETWEEN.test(String(ts.SyntaxKind[node.kind]));
  return isBetween ? [...types, ...typesAround(node.parent)] : types;
}

/**
 * Adds stubs of operations to the text of a file with handlers, before the other handlers, and the
 * imports that the stubs need.
 *
 * @param text the text of the file. If it is blank, that of the template is used.
 * @throws {Error} if the file has no object of type `Handlers`.
 */
export function addStubs(path: string, text: string, ids: readonly string[]): string {
  const typesPath = relative(dirname(path), TYPES).split(sep).join('/');
  const specifier = typesPath.startsWith('.') ? typesPath : `./${typesPath}`;
  const source =
    text.trim() === '' ? readFileSync(EMPTY_FILE, 'utf8').replace(`../${TYPES}`, specifier) : text;
  const { imports, start } = readHandlers(path, source);
  if (start === undefined) {
    const example = 'export const handlers = {} satisfies Partial<Handlers>;';
    throw new Error(`${path} has no object of type Handlers. Add one: ${example}`);
  }
  const line = source.slice(source.lastIndexOf('\n', start - 1) + 1);
  const indent = line.replace(/[^ \t][\s\S]*/, '');
  const stubs = ids.map((id) => {
    const name = quoted(id);
    return `
${indent}  async ${propertyName(id)}(_request: RequestTo<${name}>): Promise<ReplyTo<${name}>> {
${indent}    throw new HttpError(501, ${quoted(`${id} is not implemented yet`)});
${indent}  },`;
  });
  const end = source.startsWith('}', start) ? `\n${indent}` : '';
  const insertions: Insertion[] = [
    [start, stubs.join('') + end],
    importInsertion(imports, specifier, 'import type', ['ReplyTo', 'RequestTo']),
    importInsertion(imports, 'spec-first-server', 'import', ['HttpError']),
  ];
  // From the end of the text, so that the other positions stay valid.
  const result = insertions
    .sort(([one], [other]) => other - one)
    .reduce((edited, [at, added]) => edited.slice(0, at) + added + edited.slice(at), source);
  return text.includes('\r\n') ? result.replaceAll(/\r?\n/g, '\r\n') : result;
}

type Insertion = readonly [position: number, text: string];

/** Returns an insertion that adds names to the import of a module, or a new import. */
function importInsertion(
  imports: readonly ts.ImportDeclaration[],
  from: string,
  keyword: 'import' | 'import type',
  names: readonly string[],
): Insertion {
  const specifiers = imports
    .flatMap(({ importClause }) => importClause?.namedBindings ?? [])
    .flatMap((bindings) => (ts.isNamedImports(bindings) ? bindings.elements : []));
  const imported = specifiers.map(({ name }) => name.text);
  const missing = names.filter((name) => !imported.includes(name)).join(', ');
  if (missing === '') return [0, ''];
  const last = specifiers.findLast(({ parent: { parent: clause } }) => {
    const phase = keyword === 'import' ? undefined : ts.SyntaxKind.TypeKeyword;
    return clause.phaseModifier === phase && Object(clause.parent.moduleSpecifier).text === from;
  });
  if (last !== undefined) return [last.getEnd(), `, ${missing}`];
  return [imports[0]?.getStart() ?? 0, `${keyword} { ${missing} } from '${from}';\n`];
}
