import { dirname, relative } from 'node:path';
import {
  asObject,
  type Document,
  escapePointerToken,
  type Json,
  type MediaType,
  type Operation,
  type Parameter,
  valueAt,
} from 'openapi-document';
import * as openapi from 'openapi-typescript';
import ts from 'typescript';
import { type Direction, schemaTypes } from './schema-types.ts';
import { addComment, annotationsOf, memberOf } from './type-nodes.ts';

const { factory } = ts;

/** The type of a schema for openapi-typescript. */
const TYPE = 'x-type';

/**
 * Generates the types `components`, `operations` and `webhooks`, and the types of schemas by their
 * names, as text.
 *
 * @param isServer true for the types of a server, false for those of a client.
 * @param documentName the name of the document in comments.
 */
export function typesOf(document: Document, isServer: boolean, documentName: string): string {
  const { root, operations, webhooks } = document;
  const { typeOf, named } = schemaTypes(root, isServer);
  const received = typedOperations(operations, typeOf, 'request');
  const sent = typedOperations(webhooks, typeOf, 'reply');
  const types = named();

  const linesOf = (pointers: readonly string[]) =>
    document
      .positions(pointers)
      .map((position) => withoutFolder(document.file, documentName, position));
  const exported = openapi.tsModifiers({ export: true });
  const schemaLines = linesOf(types.map(({ definition }) => pointerOf(definition)));
  const aliases = types.map(({ alias, type = openapi.UNKNOWN, schema, definition }, index) => {
    const declaration = factory.createTypeAliasDeclaration(exported, alias, undefined, type);
    const isDeclared = valueAt(root, pointerOf(definition)) !== undefined;
    const line = isDeclared ? schemaLines[index] : undefined;
    addComment(declaration, { source: asObject(schema), line });
    return declaration;
  });
  const byName = types.map(({ name, alias }) =>
    memberOf(name, factory.createTypeReferenceNode(alias), { source: {} }),
  );
  const operationLines = linesOf(operations.map(({ pointer }) => pointer));
  const webhookMembers = webhooks.map(({ path, method }, index) => ({
    path,
    member: memberOf(method, operationType(sent[index]), { source: asObject(sent[index]) }),
  }));
  const sections = {
    components: [memberOf('schemas', factory.createTypeLiteralNode(byName), { source: {} })],
    operations: operations.map(({ id, source }, index) =>
      memberOf(id, operationType(received[index]), { source, line: operationLines[index] }),
    ),
    webhooks: [...Map.groupBy(webhookMembers, ({ path }) => path)].map(([path, members]) => {
      const type = factory.createTypeLiteralNode(members.map(({ member }) => member));
      return memberOf(path, type, { source: {} });
    }),
  };
  const interfaces = Object.entries(sections).map(([name, members]) =>
    factory.createInterfaceDeclaration(exported, name, undefined, undefined, members),
  );
  return openapi.astToString([...aliases, ...interfaces]);
}

const pointerOf = (schema: string): string => `/components/schemas/${escapePointerToken(schema)}`;

/**
 * Returns `file:line` of a position, relative to the folder of the document.
 *
 * @param name the name of the document's own file.
 */
function withoutFolder(documentFile: string, name: string, position: string): string {
  const [, file = '', line] = /^(.*):(\d+):\d+$/.exec(position) ?? [];
  const path = file === documentFile ? name : relative(dirname(documentFile), file);
  return `${path.replaceAll('\\', '/')}:${line}`;
}

/** Returns `unknown` for what openapi-typescript cannot convert. The checks report it. */
function operationType(operation: Json | undefined): ts.TypeNode {
  // The other options are off.
  const ctx: openapi.GlobalContext = Object({
    transform: (schema: object) => asObject(schema)[TYPE],
  });
  try {
    const members = openapi.transformOperationObject(Object(operation), { ctx });
    return factory.createTypeLiteralNode(members);
  } catch {
    return openapi.UNKNOWN;
  }
}

/**
 * Converts operations for openapi-typescript.
 *
 * @param sent the direction of the requests: `reply` for webhooks, which the server itself sends.
 */
function typedOperations(
  operations: readonly Operation[],
  typeOf: ReturnType<typeof schemaTypes>['typeOf'],
  sent: Direction,
): readonly Json[] {
  const answered = sent === 'request' ? 'reply' : 'request';
  const schemaOf = (type: ts.TypeNode) => ({ type: 'object', [TYPE]: type });
  const typedValue = (parameter: Parameter, direction: Direction) => {
    const { source, in: where, name, required, schema = {} } = parameter;
    const annotations = annotationsOf(source);
    return {
      ...annotations,
      in: where,
      name,
      required,
      schema: schemaOf(typeOf(schema, direction)),
    };
  };
  const contentType = ({ kind, schema = {}, items, source }: MediaType, direction: Direction) => {
    const form = kind === 'multipart' ? asObject(source.encoding) : undefined;
    return items === undefined
      ? typeOf(schema, direction, form)
      : factory.createTypeReferenceNode('AsyncIterable', [typeOf(items.schema, direction)]);
  };
  const contentOf = (media: readonly MediaType[], direction: Direction) =>
    Object.fromEntries(
      media.map((each) => [each.type, { schema: schemaOf(contentType(each, direction)) }]),
    );
  // Before the requests, since schemas of replies keep their names.
  const responses = operations.map((operation) =>
    operation.responses.map(({ key, headers, media, source }) => {
      const named = headers.map((header) => [nameInDocument(header), typedValue(header, answered)]);
      const content = contentOf(media, answered);
      return [key, { ...annotationsOf(source), headers: Object.fromEntries(named), content }];
    }),
  );
  return operations.map(({ source, parameters, requestBody }, index) => {
    const body = requestBody && {
      ...annotationsOf(requestBody.source),
      required: requestBody.required,
      content: contentOf(requestBody.media, sent),
    };
    return {
      ...annotationsOf(source),
      parameters: parameters.map((parameter) => typedValue(parameter, sent)),
      requestBody: body,
      responses: Object.fromEntries(responses[index] ?? []),
    };
  });
}

/** The name of a header as the document writes it. */
const nameInDocument = ({ pointer }: Parameter): string =>
  pointer
    .slice(pointer.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
