import { dirname, relative } from 'node:path';
import {
  asObject,
  type Document,
  escapePointerToken,
  type Json,
  type MediaType,
  type Operation,
  type Parameter,
  pointerTokens,
  valueAt,
} from 'openapi-document';
import * as openapi from 'openapi-typescript';
import ts from 'typescript';
import { schemaTypes, type TypeDirection } from './schema-types.ts';
import { addComment, annotationsOf, memberOf } from './type-nodes.ts';

const { factory } = ts;

/** The keyword that holds the finished type in a schema for openapi-typescript. */
const TYPE = 'x-type';

/**
 * Generates the types of schemas by their names, and `components`, `operations` and `webhooks`, as
 * text.
 *
 * @param isServer true for the types of a server, false for those of a client.
 * @param documentName the name of the document in comments.
 */
export function generateSource(
  document: Document,
  isServer: boolean,
  documentName: string,
): string {
  const { root, operations, webhooks } = document;
  const { typeOf, namedTypes } = schemaTypes(root, isServer);
  const { requestOf, responsesOf } = converter(typeOf);
  // The service sends replies and the requests of webhooks. Their types are made first, since they
  // keep the names of the schemas.
  const replies = operations.map((operation) => responsesOf(operation, 'reply'));
  const sentRequests = webhooks.map((webhook) => requestOf(webhook, 'reply'));
  const requests = operations.map((operation) => requestOf(operation, 'request'));
  const receivedReplies = webhooks.map((webhook) => responsesOf(webhook, 'request'));
  const types = namedTypes();

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
  const webhookMembers = webhooks.map(({ path, method, source }, index) => ({
    path,
    member: memberOf(method, operationType(sentRequests[index], receivedReplies[index]), {
      source,
    }),
  }));
  const sections = {
    components: [memberOf('schemas', factory.createTypeLiteralNode(byName), { source: {} })],
    operations: operations.map(({ id, source }, index) =>
      memberOf(id, operationType(requests[index], replies[index]), {
        source,
        line: operationLines[index],
      }),
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

/** Makes the type of an operation from converted parts. */
function operationType(request: Json | undefined, responses: Json | undefined): ts.TypeNode {
  // openapi-typescript reads a missing option as `false`.
  const ctx: openapi.GlobalContext = Object({
    transform: (schema: object) => asObject(schema)[TYPE],
  });
  const operation = Object({ ...request, responses });
  return factory.createTypeLiteralNode(openapi.transformOperationObject(operation, { ctx }));
}

/** Returns functions that convert the parts of operations for openapi-typescript. */
function converter(typeOf: ReturnType<typeof schemaTypes>['typeOf']) {
  const schemaOf = (type: ts.TypeNode) => ({ type: 'object', [TYPE]: type });
  const typedValue = (parameter: Parameter, direction: TypeDirection) => {
    const { source, in: where, name, required, schema = {} } = parameter;
    const type = typeOf(schema, direction);
    return { ...annotationsOf(source), in: where, name, required, schema: schemaOf(type) };
  };
  const contentType = (
    { kind, schema = {}, items, source }: MediaType,
    direction: TypeDirection,
  ) => {
    const form = kind === 'multipart' ? asObject(source.encoding) : undefined;
    return items === undefined
      ? typeOf(schema, direction, form)
      : factory.createTypeReferenceNode('AsyncIterable', [typeOf(items.schema, direction)]);
  };
  const contentOf = (media: readonly MediaType[], direction: TypeDirection) =>
    Object.fromEntries(
      media.map((content) => [content.type, { schema: schemaOf(contentType(content, direction)) }]),
    );

  return {
    requestOf({ parameters, requestBody }: Operation, direction: TypeDirection): Json {
      const body = requestBody && {
        ...annotationsOf(requestBody.source),
        required: requestBody.required,
        content: contentOf(requestBody.media, direction),
      };
      return {
        parameters: parameters.map((parameter) => typedValue(parameter, direction)),
        requestBody: body,
      };
    },

    responsesOf({ responses }: Operation, direction: TypeDirection): Json {
      const entries = responses.map(({ key, headers, media, source }) => {
        const headersByName = headers.map((header) => {
          // As the document writes it: `header.name` is in lower case.
          const [name] = pointerTokens(header.pointer).slice(-1);
          return [name, typedValue(header, direction)];
        });
        const content = contentOf(media, direction);
        return [
          key,
          { ...annotationsOf(source), headers: Object.fromEntries(headersByName), content },
        ];
      });
      return Object.fromEntries(entries);
    },
  };
}
