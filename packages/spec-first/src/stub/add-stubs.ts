import type TypeScript from 'typescript';
import { TYPES } from '../types.ts';
import { findHandlers, type HandlersObject } from './find-handlers.ts';
import { importNames, specifierOf } from './import-names.ts';
import { type Insertion, insert } from './insert.ts';

const EMPTY_FILE = `/** The handlers of the document's operations. Write \`satisfies Handlers\` when none is missing. */
export const handlers = {} satisfies Partial<Handlers>;
`;

/**
 * Adds a stub for each operation that has no handler in a file. Only inserts text.
 *
 * @param source the text of the file, which may be empty.
 * @param types the path of the generated file.
 * @throws {Error} if the file has no object of handlers.
 */
export async function addStubs(file: string, source: string, ids: readonly string[], types = TYPES) {
  const { default: ts } = await import('typescript');
  const isEmpty = source.trim() === '';
  const text = isEmpty ? EMPTY_FILE : source;
  const parsed = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const object = findHandlers(ts, parsed, isEmpty);
  if (object === undefined) {
    const example = 'export const handlers = {} satisfies Partial<Handlers>;';
    throw new Error(`${file} has no object of type Handlers. Add one: ${example}`);
  }
  const added = ids.filter((id) => !object.names.has(id));
  if (added.length === 0) return { text: source, added };

  const needed = [...(isEmpty ? ['Handlers'] : []), 'ReplyTo', 'RequestTo'];
  const { names, insertions } = importNames(ts, parsed, [
    { specifier: 'spec-first-server', names: ['HttpError'], asTypes: false },
    { specifier: specifierOf(types, file), names: needed, asTypes: true },
  ]);
  const name = (imported: string) => names.get(imported) ?? imported;
  const stubs = added.map((id) => [
    `async ${propertyName(ts, id)}(_request: ${name('RequestTo')}<${quoted(id)}>): Promise<${name('ReplyTo')}<${quoted(id)}>> {`,
    `  throw new ${name('HttpError')}(501, ${quoted(`${id} is not implemented yet`)});`,
    '},',
  ]);
  const edited = insert(text, [...insertions, ...insertMembers(text, object, stubs)]);
  return { text: /\r\n/.test(source) ? edited.replaceAll(/\r?\n/g, '\r\n') : edited, added };
}

function insertMembers(text: string, object: HandlersObject, members: readonly (readonly string[])[]): Insertion[] {
  const lineStart = text.lastIndexOf('\n', object.end) + 1;
  const onOwnLine = text.slice(lineStart, object.end).trim() === '';
  const indent = /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', object.start) + 1))?.[0] ?? '';
  const inner = object.memberIndent ?? `${indent}  `;
  const lines = members.map((member) => member.map((line) => `${inner}${line}\n`).join(''));
  const comma = object.comma === undefined ? [] : [{ at: object.comma, text: ',' }];
  return onOwnLine
    ? [...comma, { at: lineStart, text: lines.join('') }]
    : [...comma, { at: object.end, text: `\n${lines.join('')}${indent}` }];
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const propertyName = (ts: typeof TypeScript, id: string): string =>
  [...id].every((character, index) =>
    index === 0
      ? ts.isIdentifierStart(character.codePointAt(0) ?? 0, ts.ScriptTarget.Latest)
      : ts.isIdentifierPart(character.codePointAt(0) ?? 0, ts.ScriptTarget.Latest),
  )
    ? id
    : quoted(id);
