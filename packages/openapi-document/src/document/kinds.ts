import { escapePointerToken, isObject, type Json } from './document.ts';

/** Keywords whose value is one schema, a list of schemas, or schemas by name (JSON Schema 2020-12 §10, §11). */
export const SUBSCHEMAS = {
  one: [
    ...['not', 'if', 'then', 'else', 'items', 'contains', 'propertyNames'],
    ...['additionalProperties', 'unevaluatedItems', 'unevaluatedProperties'],
  ],
  list: ['allOf', 'anyOf', 'oneOf', 'prefixItems'],
  named: ['properties', 'patternProperties', 'dependentSchemas', '$defs'],
};

/** What an object of a document is. */
export type Kind = keyof typeof MEMBERS;

/** The kind of a member; in brackets, that of each item or member of it. */
export type MemberKind = Kind | readonly [Kind];

const each = <T>(names: readonly string[], kind: T): Record<string, T> =>
  Object.fromEntries(names.map((name) => [name, kind]));

const body = { content: ['mediaType'] } as const;
const value = { ...body, schema: 'schema', examples: ['example'] } as const;

/** The members that hold other objects (OpenAPI 3.2 §4). `*` stands for all names that are not listed. */
const MEMBERS = {
  document: {
    ...each(['info', 'servers', 'tags', 'externalDocs'], 'other' as const),
    ...each(['paths', 'webhooks'], ['pathItem'] as const),
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
  pathItem: { parameters: ['parameter'], servers: 'other', additionalOperations: ['operation'], '*': 'operation' },
  operation: {
    parameters: ['parameter'],
    requestBody: 'requestBody',
    responses: ['response'],
    callbacks: ['callback'],
  },
  parameter: value,
  header: value,
  requestBody: body,
  response: { ...body, headers: ['header'], links: ['link'] },
  mediaType: { schema: 'schema', itemSchema: 'schema', examples: ['example'], encoding: ['encoding'] },
  encoding: { headers: ['header'] },
  callback: { '*': 'pathItem' },
  schema: {
    ...each(SUBSCHEMAS.one, 'schema' as const),
    ...each([...SUBSCHEMAS.list, ...SUBSCHEMAS.named], ['schema'] as const),
    contentSchema: 'schema',
    discriminator: 'discriminator',
  },
  other: { '*': 'other' },
  discriminator: {},
  example: {},
  link: {},
  securityScheme: {},
} as const;

const TABLE: Readonly<Record<Kind, Readonly<Record<string, MemberKind>>>> = MEMBERS;

/** The group of `components` that an object of a kind belongs in, if there is one. */
export const componentGroup = (kind: Kind): string | undefined =>
  Object.entries(TABLE.components).find(([, [held]]) => held === kind)?.[0];

/** Calls `visit` with each object and list inside an object or a list, its key, its kind, and the pointer to it. */
export function eachMember(
  holder: object,
  kind: MemberKind,
  at: string,
  visit: (value: object, kind: MemberKind, at: string, key: string) => void,
): void {
  const isNamed = typeof kind === 'string';
  const named = isNamed ? TABLE[kind] : { '*': kind[0] };
  for (const [key, value] of Object.entries(holder)) {
    if (typeof value !== 'object' || value === null || (isNamed && key.startsWith('x-'))) continue;
    const own = Object.hasOwn(named, key) ? named[key] : named['*'];
    if (own !== undefined) visit(value, own, `${at}/${escapePointerToken(key)}`, key);
  }
}

/** Calls `visit` with an object of a document and each object inside it. Does not follow references. */
export function walk(
  value: unknown,
  kind: MemberKind,
  at: string,
  visit: (object: Json, kind: Kind, at: string) => void,
) {
  if (typeof value !== 'object' || value === null) return;
  if (isObject(value) && typeof kind === 'string') visit(value, kind, at);
  eachMember(value, kind, at, (member, held, place) => walk(member, held, place, visit));
}
