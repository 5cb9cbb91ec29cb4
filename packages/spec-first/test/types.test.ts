import { expect, test } from '@jest/globals';
import { documentWith } from 'test-support/document-of';
import { generateTypes, quoted } from '../src/types.ts';

test.each([
  ['', "''"],
  ['plant', "'plant'"],
  ["it's 'so'", "'it\\'s \\'so\\''"],
  ['say "hi"', `'say "hi"'`],
  ['a\\b\n\u2028', "'a\\\\b\\n\u2028'"],
])('%j is quoted as %s', (text, literal) => {
  expect(quoted(text)).toBe(literal);
  expect(new Function(`return ${literal}`)()).toBe(text);
});

const done = { responses: { 204: { description: 'Done.' } } };

function interfaceOf(text: string, name: string): string {
  const [, lines = ''] =
    new RegExp(`^export interface ${name} \\{\\n(.*?)\\}$`, 'ms').exec(text) ?? [];
  return lines;
}

test('each operation has the names of its security schemes', async () => {
  const key = (name: string) => ({ type: 'apiKey', in: 'header', name });
  const members = {
    security: [{ key: [], token: [] }, { 'a-key': [] }, { key: [] }],
    paths: {
      '/a': {
        get: { operationId: 'inherits', ...done },
        put: { operationId: 'not needed', security: [], ...done },
        post: { operationId: 'optional', security: [{ key: [] }, {}], ...done },
        patch: { operationId: 'broken', security: [null], ...done },
      },
    },
    components: { securitySchemes: { key: key('A'), token: key('B'), 'a-key': key('C') } },
  };
  const text = await generateTypes(await documentWith(members));
  expect(interfaceOf(text, 'security')).toBe(`    inherits: ["key", "token"] | "a-key" | "key";
    'not needed': undefined;
    optional: "key" | undefined;
    broken: undefined;
`);
});

test('an operation has the names of optional parameters with a default', async () => {
  const parameters = [
    { name: 'limit', in: 'query', schema: { $ref: '#/components/schemas/Limit' } },
    { name: 'sort', in: 'query', schema: { allOf: [{ type: 'string' }, { default: 'id' }] } },
    { name: 'X-Trace', in: 'header', schema: { type: 'string', default: '' } },
    { name: 'page', in: 'query', required: true, schema: { type: 'integer', default: 1 } },
    { name: 'after', in: 'query', schema: { type: 'string' } },
    { name: 'size', in: 'query', schema: { type: 'integer', minimum: 1, default: 0 } },
  ];
  const members = {
    paths: {
      '/a': {
        get: { operationId: 'list all', parameters, ...done },
        put: { operationId: 'put', parameters: parameters.slice(3), ...done },
        post: { operationId: 'post', parameters: parameters.slice(1, 2), ...done },
      },
    },
    components: { schemas: { Limit: { type: 'integer', default: 20 } } },
  };
  const text = await generateTypes(await documentWith(members));
  expect(interfaceOf(text, 'defaults')).toBe(`    'list all': {
        query: "limit" | "sort";
        header: "X-Trace";
    };
    post: {
        query: "sort";
    };
`);
});
