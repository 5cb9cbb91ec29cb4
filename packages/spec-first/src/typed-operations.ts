import { asObject, type Json, type MediaType, type Operation } from 'openapi-document';
import { type DirectedSchemas, type Direction, printable } from './directed-schemas.ts';
import { STREAM } from './generator.ts';

const FLIPPED = { request: 'reply', reply: 'request' } as const;

/**
 * Writes operations out for openapi-typescript, each without references but to schemas, whatever its method.
 *
 * @param sent how requests go: `request`, or `reply` for webhooks, which the server itself sends.
 */
export function typedOperations(operations: readonly Operation[], schemas: DirectedSchemas, sent: Direction) {
  const answered = FLIPPED[sent];
  const answers = new Map(operations.map((operation) => [operation, responsesOf(operation)]));
  return operations.map((operation) => ({
    operation,
    typed: {
      ...annotationsOf(operation.source),
      parameters: operation.parameters.map(({ source, in: where, name, required, schema }) => ({
        ...annotationsOf(source),
        in: where,
        name,
        required,
        schema: schemas.schema(schema ?? {}, sent),
      })),
      ...(operation.requestBody && {
        requestBody: {
          ...annotationsOf(operation.requestBody.source),
          required: operation.requestBody.required,
          content: contentOf(operation.requestBody.media, sent),
        },
      }),
      responses: answers.get(operation),
    },
  }));

  function responsesOf(operation: Operation): Json {
    return Object.fromEntries(
      operation.responses.map(({ key, headers, media, source }) => [
        key,
        {
          ...annotationsOf(source),
          headers: Object.fromEntries(
            headers.map(({ source: header, pointer, required, schema }) => [
              (pointer.split('/').at(-1) ?? '').replaceAll('~1', '/').replaceAll('~0', '~'),
              { ...annotationsOf(header), required, schema: schemas.schema(schema ?? {}, answered) },
            ]),
          ),
          content: contentOf(media, answered),
        },
      ]),
    );
  }

  function contentOf(media: readonly MediaType[], direction: Direction): Json {
    return Object.fromEntries(
      media.map(({ type, kind, schema, items, source: { encoding } }) => [
        type,
        {
          schema:
            items === undefined
              ? schemas.schema(schema, direction, kind === 'multipart' ? asObject(encoding) : undefined)
              : { type: 'array', items: schemas.schema(items.schema, direction), [STREAM]: true },
        },
      ]),
    );
  }
}

/** What is shown to who writes code. */
const annotationsOf = ({ summary, description, deprecated, example, examples }: Json): Json => ({
  ...{ summary, description, deprecated, example: printable(example), examples: printable(examples) },
});
