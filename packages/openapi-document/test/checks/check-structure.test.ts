import { expect, test } from '@jest/globals';
import { withText } from 'test-support/titles';
import { checkStructure } from '../../src/checks/check-structure.ts';
import { findingsOf } from '../support/findings.ts';

const HEAD = { openapi: '3.1.0', info: { title: 'A', version: '1' } };
const responses = { 204: { description: 'done' } };
const check = (root: object) => findingsOf((report) => checkStructure({ ...root }, report));

/** An operation, the pointer of a part of it, and the findings of this part. */
type Case = readonly [operation: object, pointer: string, findings: readonly string[]];

const parameter = (members: object) => ({
  parameters: [{ name: 'a', in: 'query', schema: {}, ...members }],
});
const body = (members: object) => ({ requestBody: { content: { 'application/json': members } } });
const STYLES = 'form, spaceDelimited, pipeDelimited, deepObject';

const OPERATIONS: readonly Case[] = [
  [{ 'x-any': 1 }, '', []],
  [{ description: 5 }, '/description', ['notice must be string, but description is 5']],
  [
    body({ schema: null }),
    '/requestBody/content/application~1json/schema',
    ['notice must be a schema: an object, true or false, but schema is null'],
  ],
  [
    body({ schema: 5 }),
    '/requestBody/content/application~1json/schema',
    ['problem must be a schema: an object, true or false, but schema is 5'],
  ],
  [{ responses: 5 }, '/responses', ['problem must be object, but responses is 5']],
  [{ responses: { 200: {} } }, '/responses/200', ['notice the member description is missing']],
  [
    { responses: { '4xx': { description: 'a' } } },
    '/responses/4xx',
    ['notice 4xx must be in upper case: it is read as 4XX'],
  ],
  [
    { responses: { 600: { description: 'a' } } },
    '/responses/600',
    ['notice 600 is not a member of OpenAPI 3.1 here: it is ignored'],
  ],
  [{ 'a/b': 1 }, '/a~1b', ['notice a/b is not a member of OpenAPI 3.1 here: it is ignored']],
  [
    parameter({ any: 1 }),
    '/parameters/0',
    ['notice /any any is not a member of OpenAPI 3.1 here: it is ignored'],
  ],
  [parameter({ name: undefined }), '/parameters/0', ['problem the member name is missing']],
  [parameter({ in: 'path' }), '/parameters/0', ['notice the member required is missing']],
  [
    parameter({ in: undefined, style: 'form' }),
    '/parameters/0',
    ['problem the member in is missing'],
  ],
  [
    parameter({ in: 'body' }),
    '/parameters/0',
    [
      'problem /in must be equal to one of the allowed values: query, header, path, cookie, but in is "body"',
    ],
  ],
  [
    parameter({ style: 'matrix' }),
    '/parameters/0',
    [`problem /style must be equal to one of the allowed values: ${STYLES}, but style is "matrix"`],
  ],
  [
    parameter({ example: 1, examples: {} }),
    '/parameters/0',
    ['notice must not have example and examples together'],
  ],
  [{ callbacks: { a: { '{$x}': { get: { responses: 5 } } } } }, '/callbacks', []],
  [
    { responses: { 204: { description: 'a', links: { a: { operationId: 5 } } } } },
    '/responses',
    [],
  ],
];

const paths = Object.fromEntries(
  OPERATIONS.map(([operation], index) => [`/${index}`, { get: { responses, ...operation } }]),
);
const findings = check(JSON.parse(JSON.stringify({ ...HEAD, paths })));

test.each(OPERATIONS.map((each, index) => [...each, index] as const))(
  'the operation %j has findings at %j: %j',
  (_operation, pointer, expected, index) => {
    const place = ` /paths/~1${index}/get`;
    const ofOperation = findings.filter((finding) => finding.includes(`${place}/`));
    const withPlace = expected.map((finding) => {
      const [level, ...words] = finding.split(' ');
      const inside = words[0]?.startsWith('/') ? '' : ' ';
      return `${level}${place}${pointer}${inside}${words.join(' ')}`;
    });
    expect(ofOperation.toSorted()).toEqual(withPlace.toSorted());
  },
);

test.each<[title: string, members: object, findings: readonly string[]]>([
  [
    'without paths, components and webhooks',
    {},
    ['problem  must have paths or components or webhooks'],
  ],
  [
    'with an invalid x-read-only',
    { paths: {}, 'x-read-only': true },
    [
      'notice /x-read-only must be equal to one of the allowed values: reject, but x-read-only is true',
    ],
  ],
  [
    'with a path without a slash',
    { paths: { a: {} } },
    ['notice /paths/a a is not a member of OpenAPI 3.1 here: it is ignored'],
  ],
  ['with an invalid webhook, which is ignored', { webhooks: { a: { get: { responses: 5 } } } }, []],
  [
    'with an invalid link, which is ignored',
    { components: { links: { a: { operationId: 5 } } } },
    [],
  ],
  [
    'with a parameter with schema and content',
    {
      components: { parameters: { a: { name: 'a', in: 'query', schema: {}, content: { b: {} } } } },
    },
    ['problem /components/parameters/a must match exactly one schema in oneOf'],
  ],
  [
    'with mistakes in info, which are notices',
    {
      info: { title: 5, version: '1' },
      paths: {},
    },
    ['notice /info/title must be string, but title is 5'],
  ],
  [
    'with invalid security schemes',
    {
      components: {
        securitySchemes: {
          a: { type: 'http' },
          b: { type: 'apiKey', name: 'b', in: 'body' },
          c: { flows: {} },
        },
      },
    },
    [
      'problem /components/securitySchemes/a the member scheme is missing',
      'problem /components/securitySchemes/b/in must be equal to one of the allowed values: query, header, cookie, but in is "body"',
      'problem /components/securitySchemes/c the member type is missing',
    ],
  ],
])('finds the mistakes in a document %s', (_title, members, expected) => {
  const findings = check({ ...HEAD, ...members });
  expect(findings.map((finding) => finding.replace(/, but \w+ is \{.*/, ''))).toEqual(expected);
});

test('a document of OpenAPI 3.2 is checked by its own schema', () => {
  const content = { 'text/plain': {} };
  const root = {
    ...HEAD,
    openapi: '3.2.7',
    paths: {
      '/a': {
        query: { responses, other: 1 },
        get: {
          responses,
          parameters: [{ name: 'b', in: 'querystring', content }],
        },
      },
    },
    components: {
      pathItems: { item: { additionalOperations: 5 }, other: { parameters: 5 } },
      examples: { a: { value: 1, dataValue: 2 } },
    },
  };
  expect(check(root).toSorted()).toEqual([
    'notice /components/examples/a must not have value and dataValue together, but a is {"value":1,"dataValue":2}',
    'notice /paths/~1a/query/other other is not a member of OpenAPI 3.2 here: it is ignored',
    'problem /components/pathItems/item/additionalOperations must be object, but additionalOperations is 5',
    'problem /components/pathItems/other/parameters must be array, but parameters is 5',
  ]);
});

test('members of OpenAPI 3.2 are read in each version', () => {
  const content = { 'text/event-stream': { itemSchema: {} } };
  const item = {
    query: { responses, itemSchema: 1 },
    additionalOperations: { LINK: { responses } },
    post: { responses, requestBody: { content } },
  };
  const isRead = 'is not a member of OpenAPI 3.1 here: it is read as in OpenAPI 3.2';
  const isIgnored = 'is not a member of OpenAPI 3.1 here: it is ignored';
  expect(check({ ...HEAD, paths: { '/a': item } }).toSorted()).toEqual([
    `notice /paths/~1a/additionalOperations additionalOperations ${isRead}. Write openapi: 3.2.0`,
    `notice /paths/~1a/post/requestBody/content/text~1event-stream/itemSchema itemSchema ${isRead}. Write openapi: 3.2.0`,
    `notice /paths/~1a/query query ${isRead}. Write openapi: 3.2.0`,
    `notice /paths/~1a/query/itemSchema itemSchema ${isIgnored}`,
  ]);
});

const TYPES = 'array, boolean, integer, null, number, object, string';

test.each(
  withText<unknown, [findings: readonly string[]]>([
    [true, []],
    [{ $schema: 'https://spec.openapis.org/oas/3.1/dialect/base', maxLength: 5n }, []],
    [
      { items: [{}] },
      ['problem /items must be a schema: an object, true or false, but items is [{}]'],
    ],
    [{ myKeyword: 5, pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', properties: { any: true } }, []],
    [{ minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n, multipleOf: 2n ** 60n, enum: [1n] }, []],
    [
      { type: 'strin' },
      [`problem /type must be equal to one of the allowed values: ${TYPES}, but type is "strin"`],
    ],
    [
      { properties: { p: { minLength: -1n, maxLength: 'a', anyOf: 5, not: 7 } } },
      [
        `problem /properties/p/anyOf must be array, but anyOf is 5`,
        `problem /properties/p/not must be a schema: an object, true or false, but not is 7`,
        `problem /properties/p/maxLength must be integer, but maxLength is "a"`,
        `problem /properties/p/minLength must be >= 0, but minLength is -1`,
      ],
    ],
    [
      { discriminator: { propertyName: 5, mapping: [], defaultMapping: 5 } },
      [
        'notice /discriminator/propertyName must be string, but propertyName is 5',
        'notice /discriminator/mapping must be object, but mapping is []',
        'notice /discriminator/defaultMapping must be string, but defaultMapping is 5',
      ],
    ],
    [
      { title: 6, format: 5, required: ['a', 'a'] },
      [
        `notice /required must NOT have duplicate items (items ## 0 and 1 are identical), but required is ["a","a"]`,
        `notice /format must be string, but format is 5`,
        `notice /title must be string, but title is 6`,
      ],
    ],
  ]),
)('the schema %s has the findings %j', (_text, expected, schema) => {
  const place = '/components/schemas/S';
  const document = { ...HEAD, components: { schemas: { S: schema } } };
  const findings = check(document).map((finding) => finding.replace(` ${place}`, ' '));
  expect(findings.toSorted()).toEqual(expected.toSorted());
});
