import { describe, expect, test } from '@jest/globals';
import { DocumentError } from 'openapi-document';
import { pino } from 'pino';
import { withFiles } from 'test-support/documents';
import type { AnyHandler } from '../../src/core/handlers/types.ts';
import { prepare, type ServiceOptions } from '../../src/core/prepare.ts';

const done: AnyHandler = () => ({ status: 204 });
const responses = { 204: { description: 'done' } };
const paths = {
  '/a': { get: { operationId: 'a', responses } },
  '/b': { put: { operationId: 'b', responses } },
};
const handlers = { a: done, b: done };

async function prepared(members: object, options: Partial<ServiceOptions> = {}) {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const log = pino({ base: null, timestamp: false }, { write });
  const info = { title: 'A', version: '1' };
  const document = { openapi: '3.1.0', info, paths, ...members };
  try {
    const result = await prepare(document, { handlers, log, ...options });
    return { ...result, lines, error: '' };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return { lines, error: error.message, operations: [], context: undefined };
  }
}

const ids = (operations: readonly { readonly id: string }[]) => operations.map(({ id }) => id);

test('a document may be a file, and nothing is logged by default', async () => {
  const text = JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    paths,
    x: 1,
  });
  await withFiles({ 'openapi.json': text }, async (folder) => {
    const { operations } = await prepare(`${folder}/openapi.json`, { handlers });
    expect(ids(operations)).toEqual(['a', 'b']);
    await expect(prepare(`${folder}/none.json`, { handlers })).rejects.toThrow('cannot be read');
  });
});

describe('the start fails for', () => {
  const basic = {
    security: [{ basic: [] }],
    components: { securitySchemes: { basic: { type: 'http', scheme: 'basic' } } },
  };

  test('a verifier of an undeclared scheme, such as a misspelled one', async () => {
    const verifiers = { bassic: () => ({ subject: 'ann', scopes: 'all' as const }) };
    const message = 'the verifier bassic has no security scheme: rename or remove it';
    expect((await prepared({}, { verifiers })).error).toContain(message);
    const mocked = await prepared(basic, { handlers: {}, missing: 'mock', verifiers });
    expect(mocked.error).toBe(`#/components/securitySchemes ${message}`);
  });
});

test('an operation whose method the adapter does not receive is not served', async () => {
  const { operations, lines } = await prepared({}, { methods: ['GET', 'POST'] });
  expect(ids(operations)).toEqual(['a']);
  expect(lines).toEqual([
    { level: 40, msg: 'PUT /b cannot be served: the server cannot read PUT' },
  ]);
});

test('the first undeclared member of each operation is logged in development', async () => {
  const schema = { type: 'object', properties: { id: {} } };
  const content = { 'application/json': { schema } };
  const members = {
    paths: Object.fromEntries(
      ['a', 'b'].map((id) => [
        `/${id}`,
        { get: { operationId: id, responses: { 200: { description: 'ok', content } } } },
      ]),
    ),
  };
  for (const inDevelopment of [true, false]) {
    const { operations, context, lines } = await prepared(members, { inDevelopment });
    for (const operation of [...operations, ...operations]) {
      const media = operation.responses[0]?.media[0];
      if (media === undefined) throw new Error('no media type');
      context?.validatorOf(operation).response(media)({ id: 1, first: 1, second: 1 });
    }
    const message = (id: string) => ({
      level: 40,
      operationId: id,
      member: 'first',
      msg: `${id} responds without first: the document does not declare it, or declares it writeOnly`,
    });
    expect(lines).toEqual(inDevelopment ? [message('a'), message('b')] : []);
  }
});
