import { dirname, relative } from 'node:path';
import {
  asObject,
  type Document,
  escapePointerToken,
  type MediaType,
  type Operation,
  type Parameter,
  pointerTokens,
  type schemas,
  valueAt,
} from 'openapi-document';
import * as openapi from 'openapi-typescript';
import ts from 'typescript';
import { schemaTypes } from './schema-types.ts';
import { annotationsOf, commentOf, formatted, memberOf, objectOf } from './type-text.ts';

/** The keyword for the text of a type, in the schemas that openapi-typescript gets. */
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
  const { typeOf, nameTypes } = schemaTypes(root, isServer);
  const requests = converterFor('request', typeOf);
  const responses = converterFor('response', typeOf);
  const linesOf = (pointers: readonly string[]) =>
    document
      .positions(pointers)
      .map((position) => withoutFolder(document.file, documentName, position));

  const operationLines = linesOf(operations.map(({ pointer }) => pointer));
  const operationMembers = operations.map((operation, index) => {
    const { id, source } = operation;
    const type = operationType(operation, requests, responses);
    return memberOf(id, type, { source, line: operationLines[index] });
  });
  const webhookMembers = [...Map.groupBy(webhooks, ({ path }) => path)].map(([path, methods]) => {
    const members = methods.map((webhook) => {
      // The service sends the requests of webhooks and receives the responses.
      const type = operationType(webhook, responses, requests);
      return memberOf(webhook.method, type, { source: webhook.source });
    });
    return memberOf(path, objectOf(members));
  });
  const { types, text } = nameTypes(
    interfaceOf('operations', operationMembers) + interfaceOf('webhooks', webhookMembers),
  );

  const schemaLines = linesOf(types.map(({ definition }) => pointerOf(definition)));
  const aliases = types.map(({ alias, type, schema, definition }, index) => {
    const isDeclared = valueAt(root, pointerOf(definition)) !== undefined;
    const line = isDeclared ? schemaLines[index] : undefined;
    return `${commentOf({ source: asObject(schema), line })}export type ${alias} = ${type};\n`;
  });
  const byName = objectOf(types.map(({ name, alias }) => memberOf(name, alias)));
  const components = interfaceOf('components', [memberOf('schemas', byName)]);
  return formatted(aliases.join('') + components + text);
}

const interfaceOf = (name: string, members: readonly string[]): string =>
  `export interface ${name} ${objectOf(members)}\n`;

const pointerOf = (schema: string): string => `/components/schemas/${escapePointerToken(schema)}`;

/**
 * Returns `file:line` of a position, relative to the folder of the document.
 *
 * @param name the name that comments show for the main file of the document.
 */
function withoutFolder(documentFile: string, name: string, position: string): string {
  const [, file = '', line] = /^(.*):(\d+):\d+$/.exec(position) ?? [];
  const path = file === documentFile ? name : relative(dirname(documentFile), file);
  return `${path.replaceAll('\\', '/')}:${line}`;
}

/** Returns functions that convert parts of operations for openapi-typescript. */
function converterFor(
  direction: schemas.Direction,
  typeOf: ReturnType<typeof schemaTypes>['typeOf'],
) {
  const schemaOf = (type: string) => ({ type: 'object', [TYPE]: type });

  return {
    typedValue({ source, in: where, name, required, schema = {} }: Parameter) {
      const type = typeOf(schema, direction);
      return { ...annotationsOf(source), in: where, name, required, schema: schemaOf(type) };
    },

    contentOf(media: readonly MediaType[]) {
      const entries = media.map(({ kind, type, schema = {}, items, source }) => {
        const form = kind === 'multipart' ? asObject(source.encoding) : undefined;
        const content = items
          ? `AsyncIterable<${typeOf(items.schema, direction)}>`
          : typeOf(schema, direction, form);
        return [type, { schema: schemaOf(content) }];
      });
      return Object.fromEntries(entries);
    },
  };
}

type Converter = ReturnType<typeof converterFor>;

function operationType(
  { parameters, requestBody, responses }: Operation,
  forRequest: Converter,
  forResponse: Converter,
): string {
  const body = requestBody && {
    ...annotationsOf(requestBody.source),
    required: requestBody.required,
    content: forRequest.contentOf(requestBody.media),
  };
  const responseEntries = responses.map(({ key, headers, media, source }) => {
    const headerEntries = headers.map((header) => {
      // Keeps the case of the document. `header.name` is in lower case.
      const [name] = pointerTokens(header.pointer).slice(-1);
      return [name, forResponse.typedValue(header)];
    });
    const content = forResponse.contentOf(media);
    return [key, { ...annotationsOf(source), headers: Object.fromEntries(headerEntries), content }];
  });
  const operation = Object({
    parameters: parameters.map(forRequest.typedValue),
    requestBody: body,
    responses: Object.fromEntries(responseEntries),
  });
  // The compiler prints the name of a type reference unchanged, so the text of any type can be used
  // as the name.
  const transform = (schema: object) =>
    ts.factory.createTypeReferenceNode(String(asObject(schema)[TYPE]));
  // openapi-typescript reads a missing option as `false`.
  const ctx: openapi.GlobalContext = Object({ transform });
  return objectOf([openapi.astToString(openapi.transformOperationObject(operation, { ctx }))]);
}
