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

interface Described {
  /** A schema, or an object of OpenAPI with annotations. */
  readonly source: Json;
  /** The place in the document: `file:line`. */
  readonly line?: string | undefined;
}

/** Adds a comment with the annotations of a source, and with its place in the document. */
export function addComment(node: ts.Node, { source, line }: Described): void {
  openapi.addJSDocComment(annotationsOf(source), Object(node));
  if (line === undefined) return;
  const [comment] = ts.getSyntheticLeadingComments(node) ?? [];
  const lines = (comment?.text ?? '')
    .split('\n')
    .map((text) => text.replace(/^ ?\*+ ?/, '').trimEnd())
    .filter((text, index, texts) => text !== '' || (index > 0 && index < texts.length - 1));
  const text = [...lines, `@see ${line}`].map((text) => ` * ${text}`.trimEnd()).join('\n');
  ts.setSyntheticLeadingComments(node, undefined);
  const kind = ts.SyntaxKind.MultiLineCommentTrivia;
  ts.addSyntheticLeadingComment(node, kind, `*\n${text}\n `, true);
}

const ANNOTATIONS = new Set([
  ...['title', 'summary', 'description', 'deprecated', 'format', 'type', 'enum', 'const'],
  ...['default', 'example', 'examples'],
]);

/** The annotations that editors show. */
export function annotationsOf(source: Json): Json {
  const entries = Object.entries(source)
    .filter(([key]) => ANNOTATIONS.has(key))
    .map(([key, value]) => [key, /^(default|example)$/.test(key) ? textOf(value) : value]);
  return { ...Object.fromEntries(entries), examples: asArray(source.examples).map(textOf) };
}

/** Returns a value as text, with exact integers. */
const textOf = (value: unknown): unknown =>
  typeof value === 'object' ? stringifyJson(value, 2) : value;
