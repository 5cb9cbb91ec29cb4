import { describe, expect, test } from '@jest/globals';
import { mapKeyword } from '../../src/schema/keywords.ts';
import {
  componentGroup,
  type Kind,
  type MemberKind,
  memberKind,
  walk,
} from '../../src/source/kinds.ts';

describe('mapKeyword', () => {
  const replace = (schema: unknown) => ({ replaced: schema });

  const one =
    'not if then else items contains propertyNames additionalProperties unevaluatedItems unevaluatedProperties';

  test.each(one.split(' '))('replaces the schema of %s', (key) => {
    expect(mapKeyword(key, 1, replace)).toEqual({ replaced: 1 });
    expect(memberKind('schema', key)).toBe('schema');
  });

  test.each(['allOf', 'anyOf', 'oneOf', 'prefixItems'])('replaces each schema of %s', (key) => {
    expect(mapKeyword(key, [1, 2], replace)).toEqual([{ replaced: 1 }, { replaced: 2 }]);
    expect(memberKind('schema', key)).toEqual(['schema']);
  });

  test.each(['properties', 'patternProperties', 'dependentSchemas', '$defs'])(
    'replaces each named schema of %s',
    (key) => {
      const replaced = { a: { replaced: 1 }, b: { replaced: 2 } };
      expect(mapKeyword(key, { a: 1, b: 2 }, replace)).toEqual(replaced);
      expect(memberKind('schema', key)).toEqual(['schema']);
    },
  );

  test.each(['enum', 'const', 'required', 'contentSchema'])('does not change %s', (key) => {
    expect(mapKeyword(key, [1], replace)).toEqual([1]);
  });
});

test.each<[kind: MemberKind, key: string, member: MemberKind]>([
  ['document', 'paths', 'paths'],
  ['paths', '/a', 'pathItem'],
  ['document', 'webhooks', ['pathItem']],
  ['document', 'components', 'components'],
  ['document', 'info', 'other'],
  ['document', 'servers', 'other'],
  ['document', 'tags', 'other'],
  ['document', 'externalDocs', 'other'],
  [['pathItem'], 'x-a', 'pathItem'],
  ['components', 'schemas', ['schema']],
  ['pathItem', 'get', 'operation'],
  ['pathItem', 'servers', 'other'],
  ['pathItem', 'additionalOperations', ['operation']],
  ['operation', 'requestBody', 'requestBody'],
  ['operation', 'responses', 'responses'],
  ['responses', '200', 'response'],
  ['parameter', 'schema', 'schema'],
  ['parameter', 'content', ['mediaType']],
  ['header', 'examples', ['example']],
  ['header', 'content', ['mediaType']],
  ['requestBody', 'content', ['mediaType']],
  ['mediaType', 'schema', 'schema'],
  ['mediaType', 'itemSchema', 'schema'],
  ['mediaType', 'examples', ['example']],
  ['mediaType', 'prefixEncoding', ['encoding']],
  ['mediaType', 'itemEncoding', 'encoding'],
  ['encoding', 'encoding', ['encoding']],
  ['callback', '{$request.query.url}', 'pathItem'],
  ['schema', 'contentSchema', 'schema'],
  ['schema', 'discriminator', 'discriminator'],
  ['response', 'content', ['mediaType']],
  ['other', 'a', 'other'],
  ['discriminator', 'mapping', ['schemaName']],
  ['discriminator', 'defaultMapping', 'schemaName'],
])('a member of %j named %s has the kind %j', (kind, key, member) => {
  expect(memberKind(kind, key)).toEqual(member);
});

test.each<[kind: MemberKind | undefined, key: string]>([
  [undefined, 'paths'],
  ['paths', 'x-a'],
  ['document', 'x-a'],
  ['document', 'security'],
  ['responses', 'x-a'],
  ['operation', 'constructor'],
  ['schema', 'default'],
  ['example', 'value'],
])('a member of %j named %s has no kind', (kind, key) => {
  expect(memberKind(kind, key)).toBeUndefined();
});

test.each<[kind: Kind, group: string]>([
  ['response', 'responses'],
  ['example', 'examples'],
  ['header', 'headers'],
  ['link', 'links'],
  ['callback', 'callbacks'],
  ['schema', 'schemas'],
  ['parameter', 'parameters'],
  ['requestBody', 'requestBodies'],
  ['securityScheme', 'securitySchemes'],
  ['mediaType', 'mediaTypes'],
  ['pathItem', 'pathItems'],
])('components for %s are in %s', (kind, group) => {
  expect(componentGroup(kind)).toBe(group);
});

test.each<[kind: Kind]>([['operation'], ['other']])('components cannot be %s', (kind) => {
  expect(componentGroup(kind)).toBeUndefined();
});

function visited(value: unknown, kind: MemberKind | undefined): string[] {
  const visits: string[] = [];
  walk(value, kind, '', (_object, visitedKind, at) => visits.push(`${visitedKind} ${at}`));
  return visits;
}

describe('walk', () => {
  test('visits each object of a document before the objects inside it', () => {
    const schema = { properties: { a: { items: { $ref: '#/b' } } }, example: { properties: {} } };
    const content = { 'application/json': { schema, encoding: { a: { headers: { H: {} } } } } };
    const callbacks = { done: { '{$url}': { post: {} } } };
    const operation = {
      parameters: [{ name: 'q' }],
      requestBody: { content },
      responses: { '200': { headers: { A: {} }, links: { L: {} } } },
      callbacks,
    };
    const document = {
      paths: { '/a/{id}': { get: operation } },
      components: { securitySchemes: { S: {} } },
      'x-a': { b: {} },
    };
    const get = '/paths/~1a~1{id}/get';
    const media = `${get}/requestBody/content/application~1json`;
    expect(visited(document, 'document')).toEqual([
      'document ',
      'paths /paths',
      'pathItem /paths/~1a~1{id}',
      `operation ${get}`,
      `parameter ${get}/parameters/0`,
      `requestBody ${get}/requestBody`,
      `mediaType ${media}`,
      `schema ${media}/schema`,
      `schema ${media}/schema/properties/a`,
      `schema ${media}/schema/properties/a/items`,
      `encoding ${media}/encoding/a`,
      `header ${media}/encoding/a/headers/H`,
      `responses ${get}/responses`,
      `response ${get}/responses/200`,
      `header ${get}/responses/200/headers/A`,
      `link ${get}/responses/200/links/L`,
      `callback ${get}/callbacks/done`,
      `pathItem ${get}/callbacks/done/{$url}`,
      `operation ${get}/callbacks/done/{$url}/post`,
      'components /components',
      'securityScheme /components/securitySchemes/S',
    ]);
  });

  test.each<[title: string, value: unknown, kind: MemberKind | undefined]>([
    ['data', { a: {} }, undefined],
    ['null', null, 'schema'],
    ['a boolean schema', true, 'schema'],
    ['an array in the place of an object', [], 'schema'],
  ])('does not visit %s', (_title, value, kind) => {
    expect(visited(value, kind)).toEqual([]);
  });
});
