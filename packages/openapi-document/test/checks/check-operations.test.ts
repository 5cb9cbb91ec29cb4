import { expect, test } from '@jest/globals';
import { checkOperations } from '../../src/checks/check-operations.ts';
import { Codecs } from '../../src/codecs/codecs.ts';
import { findingsOf } from '../support/findings.ts';
import { documentOf } from '../support/operations.ts';

const responses = { 204: { description: 'done' } };
const get = (members: object = {}) => ({ get: { responses, ...members } });

async function check(paths: object, components: object = {}, members: object = {}) {
  const document = await documentOf(paths, components);
  const root = { ...document.root, ...members };
  return findingsOf((report) => checkOperations({ ...document, root }, new Codecs(), report));
}

test.each<[title: string, paths: object, findings: readonly string[]]>([
  ['one valid operation', { '/a': get() }, []],
  [
    'operations with the same id',
    {
      '/a': { ...get({ operationId: 'x' }), put: { operationId: 'x', responses } },
      '/b': get({ operationId: 'x' }),
      '/c': get({ operationId: 'y' }),
    },
    [
      ['/paths/~1a/put', 'x2'],
      ['/paths/~1b/get', 'x3'],
    ].map(
      ([pointer, id]) =>
        `notice ${pointer}/operationId operationId x is already used by get /a: this operation is renamed to ${id}`,
    ),
  ],
  [
    'paths that no request can have',
    { '/a?b=c': get(), '/a#b': get() },
    ['/paths/~1a?b=c/get', '/paths/~1a#b/get'].map(
      (pointer) =>
        `notice ${pointer} a path cannot contain ? or #: declare query parameters instead`,
    ),
  ],
  [
    'an operation without responses',
    { '/a': { get: { operationId: 'x' } } },
    [
      'notice /paths/~1a/get operation x declares no response: its handler may use any status, without a body',
    ],
  ],
])('finds the mistakes in a document with %s', async (_title, paths, findings) => {
  expect(await check(paths)).toEqual(findings);
});

test('a path parameter that is not in the path is reported once, also if a path item declares it', async () => {
  const unused = (name: string) => ({ name, in: 'path', required: true, schema: {} });
  const components = { parameters: { Shared: unused('shared') } };
  const paths = {
    '/a/{id}': {
      parameters: [unused('id'), unused('inItem'), { $ref: '#/components/parameters/Shared' }],
      get: { parameters: [unused('inOperation'), { ...unused('query'), in: 'query' }], responses },
    },
  };
  expect(await check(paths, components)).toEqual(
    [
      ['/paths/~1a~1{id}/parameters/1', 'inItem'],
      ['/paths/~1a~1{id}/parameters/2', 'shared'],
      ['/paths/~1a~1{id}/get/parameters/0', 'inOperation'],
    ].map(
      ([pointer, name]) =>
        `notice ${pointer} path parameter ${name} is not in the path /a/{id}: it is ignored`,
    ),
  );
});

test('each security scheme must be declared', async () => {
  const components = { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } };
  const security = [{ key: [], token: [] }, { other: [] }, {}];
  expect(await check({ '/a': get({ security }) }, components)).toEqual(
    ['token', 'other'].map(
      (name) =>
        `problem /paths/~1a/get security scheme ${name} is not in components.securitySchemes`,
    ),
  );
});

test.each<[place: 'requestBody' | 'response', type: string, schema: unknown, isChecked: boolean]>([
  ['requestBody', 'application/xml', { type: 'object' }, false],
  ['requestBody', 'application/xml', {}, true],
  ['requestBody', 'application/xml', { type: 'string', format: 'binary' }, true],
  ['requestBody', 'application/json', { type: 'object' }, true],
  ['requestBody', 'multipart/form-data', { type: 'object' }, true],
  ['requestBody', 'image/*', { minLength: 5 }, false],
  ['response', 'application/xml', { type: 'object' }, false],
  ['response', 'multipart/form-data', { type: 'object' }, false],
  ['response', 'application/json', { type: 'object' }, true],
  ['response', 'text/plain', { minLength: 5 }, true],
  ['response', 'image/*', { minLength: 5 }, true],
])('the schema of a %s of %s, %j, is checked: %p', async (place, type, schema, isChecked) => {
  const content = { [type]: { schema } };
  const members =
    place === 'response'
      ? { responses: { 200: { description: 'done', content } } }
      : { requestBody: { content } };
  // Each media type is reported once.
  const findings = await check({ '/a': get(members), '/b': get(members) });
  const at = place === 'response' ? 'responses/200' : place;
  const pointer = `/paths/~1a/get/${at}/content/${type.replace('/', '~1')}`;
  const message = `bodies of ${type} are not checked against their schema, only against the media type`;
  expect(findings).toEqual(isChecked ? [] : [`notice ${pointer} ${message}`]);
});

test('an invalid x-body-limit is an error of the operations that use it', async () => {
  const post = (content: object) => ({ post: { requestBody: { content }, responses } });
  const limits = [true, null, [1], {}, -1, '257mb', '1 megabyte'];
  const jsonBodies = limits.map((limit) => post({ 'application/json': { 'x-body-limit': limit } }));
  const others = post({
    'application/octet-stream': { 'x-body-limit': '0' },
    'application/x-www-form-urlencoded': { 'x-body-limit': '257mb' },
    'text/plain': { 'x-body-limit': '256mb' },
    'text/csv': {},
  });
  const pointerOf = (path: string, type: string) =>
    `problem /paths/~1${path}/post/requestBody/content/application~1${type}/x-body-limit`;
  const example = 'such as 500, 100kb or 10mb';
  const tooLarge = `x-body-limit must be a size from 1b to 256mb, ${example}`;
  const paths = Object.fromEntries(jsonBodies.map((item, index) => [`/${index}`, item]));
  expect(await check({ ...paths, '/a': others })).toEqual([
    ...limits.map((_, index) => `${pointerOf(String(index), 'json')} ${tooLarge}`),
    `${pointerOf('a', 'octet-stream')} x-body-limit must be a size of at least 1b, ${example}`,
    `${pointerOf('a', 'x-www-form-urlencoded')} ${tooLarge}`,
  ]);
});

test('event streams without itemSchema are reported', async () => {
  const stream = 'text/event-stream';
  const content = { [stream]: { schema: { type: 'string' } } };
  const items = { [stream]: { itemSchema: {} } };
  const message =
    'events are sent as plain bytes: without heartbeats, cut after 60 s of silence, and not ended at a stop. Use itemSchema (OpenAPI 3.2)';
  const paths = {
    '/a': {
      get: { responses: { 200: { description: 'A', content } } },
      post: { requestBody: { content }, responses },
    },
    '/b': { get: { responses: { 200: { description: 'B', content: items } } } },
  };
  expect(await check(paths)).toEqual([
    `notice /paths/~1a/get/responses/200/content/text~1event-stream ${message}`,
    'notice /paths/~1a/post/requestBody/content/text~1event-stream events are read as plain bytes. Use itemSchema (OpenAPI 3.2)',
  ]);
});

test('defaults in a merge patch are reported once for each property', async () => {
  const status = { type: 'string', default: 'new' };
  const schemas = {
    Base: { type: 'object', properties: { status } },
    Patch: {
      allOf: [{ $ref: '#/components/schemas/Base' }],
      oneOf: [{ $ref: '#/components/schemas/Base' }, { properties: { size: { default: 1 } } }],
      properties: {
        inner: {
          type: 'object',
          properties: { status, self: { $ref: '#/components/schemas/Patch' } },
        },
        none: { type: 'string' },
        id: { type: 'string', readOnly: true, default: 'a' },
        list: { type: 'array', items: { properties: { status } } },
        other: { $ref: '#/components/schemas/Default' },
      },
    },
    Default: { default: 'a' },
  };
  const schema = { $ref: '#/components/schemas/Patch' };
  const patch = (type: string) => ({
    patch: { requestBody: { content: { [type]: { schema } } }, responses },
  });
  const paths = {
    '/a': patch('application/merge-patch+json'),
    '/b': patch('application/merge-patch+json; charset=utf-8'),
    '/c': patch('application/json'),
  };
  const message = (name: string) =>
    `the default of ${name} is added to each merge patch without it, which resets the value: use a schema without this default`;
  const names = ['inner.status', 'other', 'status', 'size'];
  expect(await check(paths, { schemas })).toEqual(
    ['a', 'b; charset=utf-8'].flatMap((path) => {
      const [name, parameter] = path.split(';');
      const type = `application~1merge-patch+json${parameter === undefined ? '' : `;${parameter}`}`;
      const pointer = `/paths/~1${name}/patch/requestBody/content/${type}`;
      return names.map((property) => `notice ${pointer} ${message(property)}`);
    }),
  );
});
