import { dirname, relative } from 'node:path';
import {
  type Annotations,
  asObject,
  Codecs,
  type Document,
  type Json,
  type MediaType,
  type Operation,
  type Parameter,
  pointerTokens,
  type Schemas,
} from 'openapi-document';
import { SERVER_HEADERS } from 'spec-first-server/cli';
import { type Direction, schemaTypes, type Use } from './schema-types.ts';
import { commentOf, memberOf, objectOf, type Values } from './type-text.ts';

/** The forms of the values that a type with the parameter `V` has. */
const FORMS = {
  server: `/** The form of values in requests: dates are strings. */
export type Received = { date: string; list: never };
/** The form of values in replies: also dates as objects, and readonly lists. */
export type Sent = { date: string | DateLike; list: unknown };
/** A Date, a Temporal value, or another object that JSON writes as a string. */
export interface DateLike { toJSON(): string }
`,
  client: `/** The form of values in responses. */
export type Received = { date: string; list: never };
/** The form of values in requests: also readonly lists. */
export type Sent = { date: string; list: unknown };
`,
};

const LIST = `/** A list or tuple that may be readonly if it is sent. */
export type MaybeReadonly<T extends readonly unknown[], V extends Sent> =
    T | (Readonly<T> & V['list']);
`;

const TAGGED = `/** One of several types, which the values of a member select. */
export type Tagged<T, Name, Values> = { [K in keyof T]: K extends Name ? Values : T[K] };
`;

/**
 * Generates the types of schemas by their names, and `paths`, `components`, `operations` and
 * `webhooks`, as text.
 *
 * @param isServer true for the types of a server, false for those of a client.
 * @param documentName the name of the document in comments.
 */
export function generateSource(
  { file, operations, webhooks, positions }: Document,
  schemas: Schemas,
  isServer: boolean,
  documentName: string,
) {
  const calls = operations.map((operation) => ({ operation, ...REQUESTS }));
  // The service sends the requests of webhooks and receives the responses.
  const notifications = webhooks.map((operation) => ({ operation, ...WEBHOOKS }));
  const uses = [...calls, ...notifications].flatMap(usesIn);
  const { typeOf, types, components } = schemaTypes(schemas, uses, isServer);
  const linesOf = (pointers: readonly string[]) =>
    positions(pointers).map((position) => withoutFolder(file, documentName, position));

  const callLines = linesOf(operations.map(({ pointer }) => pointer));
  /** The types of the operations of a server have the parameter `V`. */
  const callValues = isServer ? 'generic' : 'sent';
  const callMembers = calls.map((call, index) => {
    const { id, source } = call.operation;
    const annotations = annotationsIn(source);
    return memberOf(id, operationType(call, callValues), { annotations, line: callLines[index] });
  });
  const isGeneric =
    isServer && uses.some((use) => typeOf(use, 'generic') !== typeOf(use, 'received'));
  const webhookMembers = membersByPath(webhooks, ({ method, source }, index) => {
    const notification = notifications[index];
    const type = notification === undefined ? 'never' : operationType(notification, 'sent');
    return memberOf(method, type, { annotations: annotationsIn(source) });
  });
  const pathMembers = membersByPath(operations, ({ method, id }) =>
    memberOf(method, `operations[${JSON.stringify(id)}]`),
  );
  const schemaLines = linesOf(types.map(({ definition }) => definition.pointer));
  const aliases = types.map(({ declaration, annotations }, index) => {
    const comment = commentOf({ annotations, line: schemaLines[index] });
    return `${comment}export type ${declaration};\n`;
  });
  const schemaMembers = components.map(({ name, type }) => memberOf(name, type));
  const source = [
    ...aliases,
    interfaceOf('paths', pathMembers),
    interfaceOf('components', [memberOf('schemas', objectOf(schemaMembers))]),
    interfaceOf(`operations${isGeneric ? '<V extends Sent = Received>' : ''}`, callMembers),
    interfaceOf('webhooks', webhookMembers),
  ].join('');
  const helpers = [
    /\b(Sent|V)\b/.test(source) ? (isServer ? FORMS.server : FORMS.client) + LIST : '',
    source.includes('Tagged<') ? TAGGED : '',
  ];
  return { text: helpers.join('') + source, isGeneric };

  function operationType({ operation, request, response }: Call, values: Values): string {
    const { parameters, requestBody, responses } = operation;
    const valueMember = (parameter: Parameter, direction: Direction) => {
      const { source, required, media } = parameter;
      // Without a schema, the value is the text.
      const schema = parameter.schema ?? (media === undefined ? { type: 'string' } : undefined);
      const annotations = { ...schemas.annotations(schema, direction), ...annotationsIn(source) };
      // Keeps the case of the document. The name of a header is in lower case.
      const name = direction === response ? lastToken(parameter.pointer) : parameter.name;
      const type = typeOf({ schema, direction }, values);
      return memberOf(name, type, { annotations, isOptional: !required });
    };
    const contentMember = (media: readonly MediaType[], direction: Direction) => {
      const members = media.map((mediaType) => {
        const type = typeOf(useOf(mediaType, direction), values);
        return memberOf(mediaType.type, hasItems(mediaType) ? `AsyncIterable<${type}>` : type);
      });
      return memberOf('content', objectOf(members));
    };

    const places = ['query', 'header', 'path', 'cookie'].map((place) => {
      const declared = parameters.filter((parameter) => parameter.in === place);
      const members = declared.map((parameter) => valueMember(parameter, request));
      const isOptional = declared.every(({ required }) => !required);
      return memberOf(place, members.length > 0 ? objectOf(members) : 'never', { isOptional });
    });
    const hasBody = requestBody !== undefined && requestBody.media.length > 0;
    const body = hasBody
      ? memberOf('requestBody', objectOf([contentMember(requestBody.media, request)]), {
          annotations: annotationsIn(requestBody.source),
          isOptional: !requestBody.required,
        })
      : memberOf('requestBody', 'never', { isOptional: true });
    const responseMembers = responses.map(({ key, headers, media, source }) => {
      const members = [
        ...headers.map((header) =>
          valueMember(
            SERVER_HEADERS.has(header.name) ? { ...header, required: false } : header,
            response,
          ),
        ),
        '[name: string]: unknown;',
      ];
      const content =
        media.length > 0
          ? contentMember(media, response)
          : memberOf('content', 'never', { isOptional: true });
      const type = objectOf([memberOf('headers', objectOf(members)), content]);
      return memberOf(key, type, { annotations: annotationsIn(source) });
    });
    return objectOf([
      memberOf('parameters', objectOf(places)),
      body,
      memberOf('responses', responses.length > 0 ? objectOf(responseMembers) : 'never'),
    ]);
  }
}

/** An operation, and the directions of its requests and its responses. */
interface Call {
  readonly operation: Operation;
  readonly request: Direction;
  readonly response: Direction;
}

const REQUESTS = { request: 'request', response: 'response' } as const;
const WEBHOOKS = { request: 'response', response: 'request' } as const;

function usesIn({ operation, request, response }: Call): Use[] {
  const { parameters, requestBody, responses } = operation;
  return [
    ...parameters.map(({ schema }) => ({ schema, direction: request })),
    ...(requestBody?.media ?? []).map((media) => useOf(media, request)),
    ...responses.flatMap(({ headers, media }) => [
      ...headers.map(({ schema }) => ({ schema, direction: response })),
      ...media.map((mediaType) => useOf(mediaType, response)),
    ]),
  ];
}

/** True for a media type with items, unless its bodies are values such as JSON. */
const hasItems = (media: MediaType): boolean =>
  media.items !== undefined && new Codecs().factsOf(media).unit !== 'value';

function useOf(media: MediaType, direction: Direction): Use {
  const { schema, items, source } = media;
  if (hasItems(media)) return { schema: items?.schema, direction };
  const { unit } = new Codecs().factsOf(media);
  return { schema, direction, form: unit === 'parts' ? asObject(source.encoding) : undefined };
}

/** Returns a member for each path, with a member for each of its operations. */
function membersByPath(
  operations: readonly Operation[],
  memberFor: (operation: Operation, index: number) => string,
): string[] {
  const members = operations.map((operation, index) => ({
    path: operation.path,
    member: memberFor(operation, index),
  }));
  return [...Map.groupBy(members, ({ path }) => path)].map(([path, methods]) =>
    memberOf(path, objectOf(methods.map(({ member }) => member))),
  );
}

const interfaceOf = (name: string, members: readonly string[]): string =>
  `export interface ${name} ${objectOf(members)}\n`;

const lastToken = (pointer: string): string => pointerTokens(pointer).at(-1) ?? '';

/** Returns the annotations of an object that is not a schema. */
function annotationsIn({ summary, description, deprecated, example }: Json): Annotations {
  return {
    ...(typeof summary === 'string' && { title: summary }),
    ...(typeof description === 'string' && { description }),
    ...(deprecated === true && { isDeprecated: true }),
    ...(example !== undefined && { examples: [example] }),
  };
}

/**
 * Returns a position as `file:line`, with the file relative to the document. So the generated file
 * is the same in each working directory.
 */
function withoutFolder(documentFile: string, name: string, position: string): string {
  const [, file = '', line] = /^(.*):(\d+):\d+$/.exec(position) ?? [];
  const path = file === documentFile ? name : relative(dirname(documentFile), file);
  return `${path.replaceAll('\\', '/')}:${line}`;
}
