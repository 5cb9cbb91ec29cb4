import { type Annotations, type Definition, type Shape, stringifyJson } from 'openapi-document';
import { isIdentifier } from './type-names.ts';

/**
 * The values of a type: those that are received, such as dates as strings, those that may be sent,
 * such as `Date` objects, or those that the parameter `V` of the type tells.
 */
export type Values = 'received' | 'sent' | 'generic';

export interface TypeTextOptions {
  readonly values: Values;
  /** Returns the text of a reference. */
  readonly nameOf: (definition: Definition, values: Values) => string;
  /** True if members with a default are always present. */
  readonly fillsDefaults: boolean;
  /** The type of files. */
  readonly file: 'File' | 'Blob';
  readonly hasComments: boolean;
}

/** Returns a shape as a type of TypeScript. */
export function typeText(shape: Shape, options: TypeTextOptions): string {
  return textOf(shape, options, false).text;
}

/** A type with the operator that joins its parts. */
interface TypeText {
  readonly text: string;
  readonly operator?: '|' | '&';
}

/** @param isInside true for a part of an object type, where TypeScript allows recursive aliases. */
function textOf(shape: Shape, options: TypeTextOptions, isInside: boolean): TypeText {
  switch (shape.kind) {
    case 'any':
      return { text: 'unknown' };
    case 'nothing':
      return { text: 'never' };
    case 'constant':
      return { text: literalOf(shape.value) };
    case 'scalar':
      return { text: scalarText(shape.type, options) };
    case 'typed':
      return { text: shape.type };
    case 'reference':
      return { text: options.nameOf(shape.to, options.values) };
    case 'array':
      return arrayText(shape, options, isInside);
    case 'object':
      return { text: objectText(shape, options) };
    case 'union':
      return joined(
        '|',
        shape.parts.map((part) => textOf(part, options, isInside)),
      );
    case 'tagged':
      return taggedText(shape, options, isInside);
    case 'intersection':
      return joined(
        '&',
        shape.parts.map((part) => textOf(part, options, isInside)),
      );
  }
}

/** JSON is also valid as a TypeScript type. */
const literalOf = (value: unknown): string =>
  typeof value === 'bigint' ? 'Int64' : (stringifyJson(value) ?? 'unknown');

type ScalarType = Extract<Shape, { kind: 'scalar' }>['type'];

/** The form of a date, by the values of a type. */
const DATES = { received: 'string', sent: "Sent['date']", generic: "V['date']" };

function scalarText(type: ScalarType, { values, file }: TypeTextOptions): string {
  switch (type) {
    case 'int64':
      return 'Int64';
    case 'date':
      return DATES[values];
    case 'file':
      return file;
    default:
      return type;
  }
}

function joined(operator: '|' | '&', types: readonly TypeText[]): TypeText {
  const texts = new Set(
    types.map(({ text, operator: inner }) =>
      inner === undefined || inner === operator ? text : `(${text})`,
    ),
  );
  const text = [...texts].join(` ${operator} `);
  return texts.size > 1 ? { text, operator } : { ...types[0], text: [...texts][0] ?? 'never' };
}

const grouped = ({ text, operator }: TypeText): string =>
  operator === undefined ? text : `(${text})`;

function taggedText(
  { parts: [alternative], member, isDeclared }: Extract<Shape, { kind: 'tagged' }>,
  options: TypeTextOptions,
  isInside: boolean,
): TypeText {
  const type = textOf(alternative, options, isInside);
  const values = textOf(member.shape, options, true);
  // TypeScript finds the member of a large union quickly if all are objects, not intersections.
  return isDeclared
    ? { text: `Tagged<${type.text}, ${JSON.stringify(member.name)}, ${values.text}>` }
    : joined('&', [type, { text: objectOf([memberOf(member.name, values.text)]) }]);
}

function arrayText(
  { items, requiredItems, rest }: Extract<Shape, { kind: 'array' }>,
  options: TypeTextOptions,
  isInside: boolean,
): TypeText {
  const itemText = (item: Shape) => grouped(textOf(item, options, isInside));
  const list = rest && `${itemText(rest)}[]`;
  const first = items.map((item, index) => itemText(item) + (index < requiredItems ? '' : '?'));
  const text =
    items.length === 0
      ? (list ?? '[]')
      : `[${[...first, ...(list ? [`...${list}`] : [])].join(', ')}]`;
  if (options.values === 'received') return { text };
  if (options.values === 'sent') return { text: `readonly ${text}`, operator: '&' };
  // A recursive alias cannot be an argument of `MaybeReadonly`.
  return isInside
    ? { text: `MaybeReadonly<${text}, V>` }
    : { text: `${text} | (readonly ${text} & V['list'])`, operator: '|' };
}

function objectText(
  { members, others }: Extract<Shape, { kind: 'object' }>,
  options: TypeTextOptions,
): string {
  if (members.length === 0 && others.length === 1 && others[0]?.kind === 'any')
    return 'Record<string, unknown>';
  const types = members.map((member) => {
    const isOptional = !member.isRequired && !(member.isFilled && options.fillsDefaults);
    return { ...member, isOptional, type: textOf(member.shape, options, true) };
  });
  const lines = types.map(({ name, type, isOptional, annotations }) =>
    memberOf(name, type.text, options.hasComments ? { isOptional, annotations } : { isOptional }),
  );
  if (others.length === 0) return objectOf(lines);
  // TypeScript requires that all members fit the type of the index signature.
  const fitting = [
    ...others.map((other) => textOf(other, options, true)),
    ...types.map(({ type }) => type),
    ...(types.some(({ isOptional }) => isOptional) ? [{ text: 'undefined' }] : []),
  ];
  const isAny = fitting.some(({ text }) => text === 'unknown');
  return objectOf([...lines, `[key: string]: ${isAny ? 'unknown' : joined('|', fitting).text};`]);
}

/** Returns an object type, with a line for each member. */
export const objectOf = (members: readonly string[]): string =>
  members.length === 0 ? '{}' : `{\n${indented(members.join('\n'))}\n}`;

const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, '    ');

export function memberOf(
  name: string,
  type: string,
  { isOptional = false, ...described }: Described & { readonly isOptional?: boolean } = {},
): string {
  const key = isIdentifier(name) || isStatus(name) ? name : JSON.stringify(name);
  return `${commentOf(described)}${key}${isOptional ? '?' : ''}: ${type};`;
}

/** The key of a status is a number in `keyof`. */
const isStatus = (name: string): boolean => /^[1-5]\d\d$/.test(name);

/** The content of a comment. */
interface Described {
  readonly annotations?: Annotations;
  /** The place in the document: `file:line`. */
  readonly line?: string | undefined;
}

/** Returns a comment for editors with a line break, or an empty text. */
export function commentOf({ annotations = {}, line }: Described): string {
  const { title, description, isDeprecated, limits = [], examples = [] } = annotations;
  const texts = [title, description].filter((text) => text !== undefined && text !== '');
  const tags: (readonly [name: string, value?: unknown])[] = [
    ...(isDeprecated ? [['deprecated'] as const] : []),
    ...limits,
    ...(annotations.default ? [['default', annotations.default.value] as const] : []),
    ...examples.map((example) => ['example', example] as const),
    ...(line === undefined ? [] : [['see', line] as const]),
  ];
  const paragraphs = texts.map((text) => String(text).trim().replaceAll(/^@/gm, '\\@'));
  const tagLines = tags.map(([name, value]) => `@${name} ${valueText(value)}`.trim());
  const lines = [...paragraphs.join('\n\n').split('\n'), ...tagLines.join('\n').split('\n')]
    .map((text) => text.trimEnd().replaceAll('*/', '*\\/'))
    .filter((text, index, all) => text !== '' || (index > 0 && index < all.length - 1));
  const [only = '', ...others] = lines;
  if (only === '') return '';
  if (others.length === 0) return `/** ${only} */\n`;
  return `/**\n${lines.map((text) => ` * ${text}`.trimEnd()).join('\n')}\n */\n`;
}

/** Returns a value as text. Objects and lists are JSON, with exact integers. */
function valueText(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : (stringifyJson(value, 2) ?? '');
}
