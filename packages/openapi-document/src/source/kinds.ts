import { escapePointerToken, isObject, type Json } from './document.ts';
import { SUBSCHEMAS } from './keywords.ts';

/** The kind of an object of a document, such as `pathItem` for a Path Item Object. */
export type Kind = keyof typeof MEMBERS;

/** The kind of a member. `[kind]` stands for an array or an object with values of the kind. */
export type MemberKind = Kind | readonly [Kind];

const membersOfKind = <T>(names: readonly string[], kind: T): Record<string, T> =>
  Object.fromEntries(names.map((name) => [name, kind]));

const contentMembers = { content: ['mediaType'] } as const;
const valueMembers = { ...contentMembers, schema: 'schema', examples: ['example'] } as const;
const encodingMembers = {
  encoding: ['encoding'],
  prefixEncoding: ['encoding'],
  itemEncoding: 'encoding',
} as const;

/**
 * The kinds of the members of an object, by the kind of the object (OpenAPI 3.2 §4). `*` stands for
 * all other names.
 */
const MEMBERS = {
  document: {
    ...membersOfKind(['info', 'servers', 'tags', 'externalDocs'], 'other' as const),
    paths: 'paths',
    webhooks: ['pathItem'],
    components: 'components',
  },
  components: {
    schemas: ['schema'],
    responses: ['response'],
    parameters: ['parameter'],
    examples: ['example'],
    requestBodies: ['requestBody'],
    headers: ['header'],
    securitySchemes: ['securityScheme'],
    links: ['link'],
    callbacks: ['callback'],
    pathItems: ['pathItem'],
    mediaTypes: ['mediaType'],
  },
  paths: { '*': 'pathItem' },
  pathItem: {
    parameters: ['parameter'],
    servers: 'other',
    additionalOperations: ['operation'],
    '*': 'operation',
  },
  operation: {
    parameters: ['parameter'],
    requestBody: 'requestBody',
    responses: 'responses',
    callbacks: ['callback'],
  },
  parameter: valueMembers,
  header: valueMembers,
  requestBody: contentMembers,
  responses: { '*': 'response' },
  response: { ...contentMembers, headers: ['header'], links: ['link'] },
  mediaType: {
    schema: 'schema',
    itemSchema: 'schema',
    examples: ['example'],
    ...encodingMembers,
  },
  encoding: { ...encodingMembers, headers: ['header'] },
  callback: { '*': 'pathItem' },
  schema: {
    ...membersOfKind(SUBSCHEMAS.one, 'schema' as const),
    ...membersOfKind([...SUBSCHEMAS.list, ...SUBSCHEMAS.named], ['schema'] as const),
    contentSchema: 'schema',
    discriminator: 'discriminator',
  },
  other: { '*': 'other' },
  discriminator: { mapping: ['schemaName'], defaultMapping: 'schemaName' },
  schemaName: {},
  example: {},
  link: {},
  securityScheme: {},
} as const;

const MEMBER_KINDS: Readonly<Record<Kind, Readonly<Record<string, MemberKind>>>> = MEMBERS;

/** The group of `components` for objects of a kind, such as `schemas` for schemas. */
export const componentGroup = (kind: Kind): string | undefined => COMPONENT_GROUPS.get(kind);

const COMPONENT_GROUPS: ReadonlyMap<MemberKind, string> = new Map(
  Object.entries(MEMBERS.components).map(([group, [kind]]) => [kind, group]),
);

/** The kind of a member, or `undefined` for one that `walk` skips, such as an extension. */
export function memberKind(kind: MemberKind | undefined, key: string): MemberKind | undefined {
  if (kind === undefined) return undefined;
  if (typeof kind !== 'string') return kind[0];
  if (key.startsWith('x-')) return undefined;
  const members = MEMBER_KINDS[kind];
  return Object.hasOwn(members, key) ? members[key] : members['*'];
}

/**
 * Calls `visit` for an object of a document and each object inside it. Skips extensions and data,
 * such as the values of examples. Does not follow references.
 */
export function walk(
  value: unknown,
  kind: MemberKind | undefined,
  pointer: string,
  visit: (object: Json, kind: Kind, pointer: string) => void,
): void {
  if (kind === undefined || typeof value !== 'object' || value === null) return;
  if (isObject(value) && typeof kind === 'string') visit(value, kind, pointer);
  for (const [key, member] of Object.entries(value))
    walk(member, memberKind(kind, key), `${pointer}/${escapePointerToken(key)}`, visit);
}
