import { describe, expect, test } from '@jest/globals';
import { checkDocument, checkExamples, type Document } from 'openapi-document';
import { documentOf } from './support/operations.ts';

const S = { $ref: '#/components/schemas/S' };
const responses = { '204': { description: 'done' } };

/** The messages of the findings that stop the operations of a document. */
const faultsOf = (document: Document): string[] =>
  [...checkDocument(document).broken.values()].flat().map(({ message }) => message);

describe('a schema that refers to itself', () => {
  const faultsWith = async (schema: object) => {
    const parameters = [{ name: 'q', in: 'query', schema: S }];
    const paths = { '/a': { get: { parameters, responses } } };
    return faultsOf(await documentOf(paths, { schemas: { S: schema } }));
  };

  test.each(['allOf', 'anyOf', 'oneOf'])('in %s breaks its operation', async (keyword) => {
    expect(await faultsWith({ [keyword]: [{}, S] })).toEqual([
      `the schema refers to itself for the same value: ${keyword} → #/components/schemas/S`,
    ]);
  });

  test.each(['not', 'if', 'then', 'else'])('in %s breaks its operation', async (keyword) => {
    expect(await faultsWith({ [keyword]: S })).toEqual([
      `the schema refers to itself for the same value: ${keyword} → #/components/schemas/S`,
    ]);
  });

  test('in dependentSchemas breaks its operation', async () => {
    expect(await faultsWith({ dependentSchemas: { a: S } })).toEqual([
      'the schema refers to itself for the same value: dependentSchemas → #/components/schemas/S',
    ]);
  });

  test('for a part of the value is valid', async () => {
    const part = { items: S, properties: { a: S }, additionalProperties: S, propertyNames: S };
    expect(await faultsWith(part)).toEqual([]);
  });
});

test('a path parameter that no path has is reported once, also one of the path item', async () => {
  const unused = (name: string) => ({ name, in: 'path', required: true, schema: {} });
  const components = { parameters: { Shared: unused('shared') } };
  const paths = {
    '/a/{id}': {
      parameters: [unused('id'), unused('inItem'), { $ref: '#/components/parameters/Shared' }],
      get: { parameters: [unused('inOperation')], responses },
    },
  };
  const { notices } = checkDocument(await documentOf(paths, components));
  expect(notices).toEqual(
    [
      ['/paths/~1a~1{id}/parameters/1', 'inItem'],
      ['/paths/~1a~1{id}/parameters/2', 'shared'],
      ['/paths/~1a~1{id}/get/parameters/0', 'inOperation'],
    ].map(([pointer, name]) => ({
      pointer,
      message: `path parameter ${name} is not in the path /a/{id}: it is ignored`,
    })),
  );
});

test('examples are checked in schemas, parameters, headers, JSON bodies and forms', async () => {
  const integer = { type: 'integer' };
  const wrong = { schema: integer, example: 'x' };
  const list = { schema: integer, examples: { right: { value: 1 }, wrong: { value: 'x' } } };
  const body = { schema: { type: 'object', properties: { n: integer } }, example: { n: 'x' } };
  const content = {
    'application/json': body,
    'application/merge-patch+json': body,
    'application/x-www-form-urlencoded': body,
    // The examples of other media types are serialized.
    'application/xml': body,
  };
  const { root } = await documentOf(
    {
      '/a': {
        post: {
          parameters: [
            { name: 'a', in: 'query', ...wrong },
            { name: 'b', in: 'header', ...list },
          ],
          requestBody: { content },
          responses: { '200': { description: 'done', headers: { A: wrong } } },
        },
      },
    },
    { schemas: { S: { ...integer, example: 'x', examples: [1, 'y'] } } },
  );
  const at = '/paths/~1a/post';
  expect(checkExamples(root).map(({ pointer }) => pointer)).toEqual([
    `${at}/parameters/0/example`,
    `${at}/parameters/1/examples/wrong/value`,
    `${at}/requestBody/content/application~1json/example`,
    `${at}/requestBody/content/application~1merge-patch+json/example`,
    `${at}/requestBody/content/application~1x-www-form-urlencoded/example`,
    `${at}/responses/200/headers/A/example`,
    '/components/schemas/S/example',
    '/components/schemas/S/examples/1',
  ]);
});
