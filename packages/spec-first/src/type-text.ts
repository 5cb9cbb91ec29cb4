import { asArray, type Json, stringifyJson } from 'openapi-document';
import * as openapi from 'openapi-typescript';
import ts from 'typescript';
import { isIdentifier } from './type-names.ts';

// TypeScript types as text. The text of a union or an intersection begins with a space.

export function union(types: readonly string[]): string {
  const [first = 'never', ...others] = new Set(types);
  return others.length > 0 ? ` ${[first, ...others].map(grouped).join(' | ')}` : first;
}

export function intersection(types: readonly string[]): string {
  const [first = 'unknown', ...others] = types.filter((type) => type !== 'unknown');
  return others.length > 0 ? ` ${[first, ...others].map(grouped).join(' & ')}` : first;
}

export const grouped = (type: string): string => (type.startsWith(' ') ? `(${type})` : type);

/**
 * Returns an object type. Each member begins a line, and so does its comment. `schemaTypes` finds
 * comments only at the start of a line.
 */
export const objectOf = (members: readonly string[]): string => `{\n${members.join('\n')}\n}`;

export function memberOf(
  name: string,
  type: string,
  { isOptional = false, ...described }: Described & { readonly isOptional?: boolean } = {},
): string {
  const key = isIdentifier(name) ? name : JSON.stringify(name);
  return `${commentOf(described)}${key}${isOptional ? '?' : ''}: ${type};`;
}

/** The content of a comment. */
interface Described {
  /** A schema, or another object of the document with annotations. */
  readonly source?: Json;
  /** The place in the document: `file:line`. */
  readonly line?: string | undefined;
}

export function commentOf({ source = {}, line }: Described): string {
  const node = ts.factory.createIdentifier('');
  openapi.addJSDocComment(annotationsOf(source), Object(node));
  const [comment] = ts.getSyntheticLeadingComments(node) ?? [];
  // A NUL would look like a reference to a type.
  const text = comment?.text.replaceAll('\0', '') ?? '';
  if (line === undefined) return text && `/*${text}*/\n`;
  const annotations = text.replace(/^\*(\n \*)? /, '').trimEnd();
  return `/**\n * ${annotations && `${annotations}\n * `}@see ${line}\n */\n`;
}

export const formatted = (source: string): string =>
  openapi.astToString(Object(openapi.stringToAST(source)), { sourceText: source });

const TEXTS = ['title', 'summary', 'description', 'format'];
const KEYWORDS = ['deprecated', 'type', 'enum', 'const'];

/**
 * Returns the annotations of a source that editors show. Leaves out titles, summaries, descriptions
 * and formats that are not strings.
 */
export function annotationsOf(source: Json): Json {
  const entries = Object.entries(source).filter(
    ([key, value]) => KEYWORDS.includes(key) || (TEXTS.includes(key) && typeof value === 'string'),
  );
  return {
    ...Object.fromEntries(entries),
    default: textOf(source.default),
    example: textOf(source.example),
    examples: asArray(source.examples).map(textOf),
  };
}

/** Returns an object or a list as JSON, with exact integers. Keeps other values. */
const textOf = (value: unknown): unknown =>
  typeof value === 'object' ? stringifyJson(value, 2) : value;
