import { asArray, type Json, stringifyJson } from 'openapi-document';
import * as openapi from 'openapi-typescript';
import ts from 'typescript';

/** Makes a member of an object type, with a comment from the annotations of its source. */
export function memberOf(
  name: string,
  type: ts.TypeNode,
  { source, line, isOptional = false }: Described & { readonly isOptional?: boolean },
): ts.PropertySignature {
  const question = isOptional ? openapi.QUESTION_TOKEN : undefined;
  const index = openapi.tsPropertyIndex(name);
  const member = ts.factory.createPropertySignature(undefined, index, question, type);
  addComment(member, { source, line });
  return member;
}

/** The content of a comment. */
interface Described {
  /** A schema, or another object of the document with annotations. */
  readonly source: Json;
  /** The place in the document: `file:line`. */
  readonly line?: string | undefined;
}

/** Adds a comment with the annotations of a source, and with its place in the document. */
export function addComment(node: ts.Node, { source, line }: Described): void {
  openapi.addJSDocComment(annotationsOf(source), Object(node));
  if (line === undefined) return;
  const [comment] = ts.getSyntheticLeadingComments(node) ?? [];
  const annotations = (comment?.text ?? '').replaceAll(/^ ?\* ?/gm, '').trim();
  const lines = `${annotations}\n@see ${line}`
    .trim()
    .split('\n')
    .map((text) => ` * ${text}`)
    .join('\n');
  ts.setSyntheticLeadingComments(node, undefined);
  const kind = ts.SyntaxKind.MultiLineCommentTrivia;
  ts.addSyntheticLeadingComment(node, kind, `*\n${lines}\n `, true);
}

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

/** Returns a value as text, with exact integers. */
const textOf = (value: unknown): unknown =>
  typeof value === 'object' ? stringifyJson(value, 2) : value;
