import { describe, expect, test } from '@jest/globals';
import { checkExamples, misfitOf } from '../../src/checks/fits.ts';
import { Schemas } from '../../src/schema/schemas.ts';

const root = {
  components: {
    schemas: {
      Plant: {
        type: 'object',
        required: ['id', 'name', 'key'],
        properties: {
          id: { type: 'integer', readOnly: true },
          name: { type: 'string' },
          key: { type: 'string', writeOnly: true },
        },
      },
      Mass: { type: 'integer', maximum: 2n ** 61n },
    },
  },
};
const Plant = { $ref: '#/components/schemas/Plant' };
const Mass = { $ref: '#/components/schemas/Mass' };

test.each<[value: unknown, schema: object, misfit: string | undefined]>([
  [2n ** 60n, Mass, undefined],
  [{ id: 1, name: 'Fern', key: 'k' }, Plant, undefined],
  ['x', { type: 'string', pattern: '(' }, undefined],
  ['x', { $ref: '#/components/schemas/None' }, undefined],
  [2n ** 62n, Mass, 'must be <= 2305843009213693952'],
  [{ id: 'x', name: 'Fern' }, Plant, '/id must be integer'],
  [{ id: 1 }, Plant, '/name is required'],
])('%p with the schema %p has the misfit %s', (value, schema, misfit) => {
  expect(misfitOf(new Schemas(root), { ...schema }, value)).toBe(misfit);
});

test('a schema that refers to itself for the same value has no misfits', () => {
  const S = { anyOf: [{ $ref: '#/components/schemas/S' }], default: 1 };
  const circular = { components: { schemas: { S } } };
  expect(misfitOf(new Schemas(circular), S, 1)).toBeUndefined();
  expect(checkExamples(new Schemas(circular))).toEqual([]);
});

describe('examples that do not match their schemas', () => {
  const integer = { type: 'integer' };
  const wrong = { schema: integer, example: 'x' };
  const body = { schema: { type: 'object', properties: { n: integer } }, example: { n: 'x' } };
  const example = (members: object) => ({
    paths: { '/a': { post: members } },
  });

  test.each<[members: object, pointers: readonly string[]]>([
    [{ parameters: [{ name: 'a', in: 'query', ...wrong }] }, ['/parameters/0/example']],
    [{ parameters: [{ name: 'a', in: 'query', schema: integer, example: 1 }] }, []],
    [{ parameters: [{ name: 'a', in: 'query', schema: integer }] }, []],
    [{ parameters: [{ name: 'a', in: 'query', schema: true, example: 1 }] }, []],
    [
      {
        parameters: [
          {
            name: 'a',
            in: 'header',
            schema: integer,
            examples: {
              right: { value: 1 },
              'wrong/': { value: 'x' },
              external: { externalValue: 'x' },
            },
          },
        ],
      },
      ['/parameters/0/examples/wrong~1/value'],
    ],
    [
      { responses: { 200: { description: 'done', headers: { A: wrong } } } },
      ['/responses/200/headers/A/example'],
    ],
    ...[
      'application/json',
      'application/merge-patch+json; charset=utf-8',
      'application/x-www-form-urlencoded',
    ].map((type): [object, string[]] => [
      { requestBody: { content: { [type]: body } } },
      [`/requestBody/content/${type.replace('/', '~1')}/example`],
    ]),
    // The examples of other media types are serialized.
    [{ requestBody: { content: { 'application/xml': body, 'text/plain': body } } }, []],
  ])('of the operation %j are found at %j', (members, pointers) => {
    expect(checkExamples(new Schemas(example(members)))).toEqual(
      pointers.map((pointer) => ({
        pointer: `/paths/~1a/post${pointer}`,
        message: expect.stringMatching(/^the example does not fit its schema: .*must be integer$/),
      })),
    );
  });

  test('of a schema are found in example and in each item of examples', () => {
    const S = { properties: { n: { ...integer, example: 'x', examples: [1, 'y', 'z'] } } };
    const findings = checkExamples(new Schemas({ components: { schemas: { S } } }));
    expect(findings.map(({ pointer }) => pointer)).toEqual([
      '/components/schemas/S/properties/n/example',
      '/components/schemas/S/properties/n/examples/1',
      '/components/schemas/S/properties/n/examples/2',
    ]);
  });
});
