import { describe, expect, test } from '@jest/globals';
import { type MemberKind, walk } from '../../src/source/kinds.ts';

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
