import { expect, test } from '@jest/globals';
import { checkDocument } from '../../src/checks/check.ts';
import { loadDocument } from '../../src/operations/load.ts';
import type { Formats } from '../../src/schema/formats.ts';
import { documentOf } from '../support/operations.ts';

const responses = { 204: { description: 'done' } };
const operation = (operationId: string, members: object = {}) => ({
  get: { operationId, responses, ...members },
});
const body = (schema: object) => ({ requestBody: { content: { 'application/json': { schema } } } });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const broken = { pattern: '(' };
const REASON = '( is not a valid regular expression (ECMA-262)';

async function check(paths: object, components: object = {}, formats?: Formats) {
  const document = await loadDocument(await documentOf(paths, components), { formats });
  const { problems, broken, notices } = checkDocument(document);
  const lines = (findings: typeof problems) =>
    findings.map(({ pointer, message }) => `${pointer} ${message}`);
  return {
    problems: lines(problems),
    broken: Object.fromEntries([...broken].map(([id, findings]) => [id, lines(findings)])),
    notices: lines(notices),
  };
}
const VALID = { problems: [], broken: {}, notices: [] };

test('a valid document has no findings', async () => {
  expect(await check({ '/a': operation('a') })).toEqual(VALID);
});

test.each<[title: string, members: object, components: object, pointer: string]>([
  [
    'in the operation',
    body(broken),
    {},
    '/paths/~1a/get/requestBody/content/application~1json/schema',
  ],
  ['in a schema', body(ref('S')), { schemas: { S: broken } }, '/components/schemas/S'],
  [
    'in a schema that others refer to',
    body({ items: ref('T') }),
    { schemas: { S: broken, T: { anyOf: [ref('S'), { items: ref('T') }] } } },
    '/components/schemas/S',
  ],
  [
    'in a schema with an encoded name',
    body({ $ref: '#/components/schemas/a%7Bb' }),
    { schemas: { 'a{b': broken } },
    '/components/schemas/a{b',
  ],
  [
    'in a parameter',
    { parameters: [{ $ref: '#/components/parameters/P' }] },
    { parameters: { P: { name: 'p', in: 'query', schema: broken } } },
    '/components/parameters/P/schema',
  ],
  [
    'in a schema that extends one with a discriminator',
    body(ref('Pet')),
    {
      schemas: {
        Pet: {
          type: 'object',
          properties: { kind: { type: 'string' } },
          discriminator: { propertyName: 'kind' },
        },
        Cow: { allOf: [ref('Pet'), { properties: { milk: broken } }] },
      },
    },
    '/components/schemas/Cow/allOf/1/properties/milk',
  ],
])(
  'a mistake breaks the operations that depend on it: %s',
  async (_title, members, components, pointer) => {
    const paths = { '/a': operation('a', members), '/b': operation('b') };
    const { problems, broken, notices } = await check(paths, components);
    expect({ problems, broken }).toEqual({ problems: [], broken: { a: [`${pointer} ${REASON}`] } });
    expect(notices.filter((notice) => notice.includes(REASON))).toEqual([]);
  },
);

test('an operation has all its mistakes, and a shared one breaks each operation', async () => {
  const shared = { '/a': operation('a', body(ref('S'))), '/b': operation('b', body(ref('S'))) };
  const paths = { ...shared, '/c': operation('c', { ...body(ref('S')), security: [{ key: [] }] }) };
  const S = `/components/schemas/S ${REASON}`;
  const scheme = '/paths/~1c/get security scheme key is not in components.securitySchemes';
  expect(await check(paths, { schemas: { S: broken } })).toEqual({
    ...VALID,
    broken: { a: [S], b: [S], c: [scheme, S] },
  });
});

test('a mistake of a path item breaks its operations', async () => {
  const paths = {
    '/a': {
      parameters: [{ name: 'p', in: 'query', schema: broken }],
      ...operation('a'),
      put: { operationId: 'putA', responses },
    },
    '/a/b': operation('b'),
  };
  const { broken: brokenOperations } = await check(paths);
  const finding = `/paths/~1a/parameters/0/schema ${REASON}`;
  expect(brokenOperations).toEqual({ a: [finding], putA: [finding] });
});

test('an invalid security scheme breaks the operations that require it', async () => {
  const components = { securitySchemes: { 'a.b': { type: 'http' }, unused: { type: 'http' } } };
  const paths = { '/a': operation('a', { security: [{ 'a.b': [] }] }), '/b': operation('b') };
  const reason = 'the member scheme is missing';
  expect(await check(paths, components)).toEqual({
    problems: [],
    broken: { a: [`/components/securitySchemes/a.b ${reason}`] },
    notices: [`/components/securitySchemes/unused ${reason} (no operation uses it)`],
  });
});

test('a mistake that no operation uses is a notice', async () => {
  expect(await check({ '/a': operation('a') }, { schemas: { S: broken } })).toEqual({
    ...VALID,
    notices: [`/components/schemas/S ${REASON} (no operation uses it)`],
  });
});

test('a mistake that may affect any operation is a problem', async () => {
  expect(await check([])).toEqual({
    ...VALID,
    problems: ['/paths must be object, but paths is []'],
  });
});

test('a broken reference breaks an operation or removes a path, or is only a notice', async () => {
  const $ref = '#/components/none';
  const paths = {
    '/a': operation('a', { parameters: [{ $ref }] }),
    '/b': operation('b', {
      requestBody: { content: { 'text/plain': { examples: { x: { $ref } } } } },
    }),
    '/c': { $ref },
  };
  expect(await check(paths)).toEqual({
    problems: [],
    broken: { a: [`/paths/~1a/get/parameters/0 $ref: ${$ref} does not exist`] },
    notices: [
      `/paths/~1b/get/requestBody/content/text~1plain/examples/x $ref: ${$ref} does not exist`,
      `/paths/~1c $ref: ${$ref} does not exist (no operation uses it)`,
    ],
  });
});

test('formats that the service validates are not reported', async () => {
  const paths = { '/a': operation('a', body({ format: 'colour' })) };
  expect((await check(paths)).notices).toHaveLength(1);
  expect(await check(paths, {}, { colour: () => true })).toEqual(VALID);
});
