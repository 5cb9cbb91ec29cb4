import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { asReceived, int64 } from 'test-support/int64';
import { randomValues } from 'test-support/random-values';
import { writeParameters } from '../../src/client/parameters.ts';
import { routesOf } from '../../src/client/routes.ts';
import { operationsOf } from '../../src/operations/operations.ts';
import { parameterReader } from '../../src/parameters/parameter-reader.ts';
import { createSchemas } from '../../src/schema/schemas.ts';
import { only } from '../support/operations.ts';

const STYLES = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
} as const;
const places = Object.entries(STYLES).flatMap(([place, styles]) =>
  styles.map((style) => ({ in: place as keyof typeof STYLES, style })),
);

const text = fc.oneof(
  fc.constantFrom('', ' ', 'a b', '%25', 'a,b', 'a|b', ';', '=', '&', 'x', '.', '1', 'true'),
  fc.constantFrom('null', 'é', 'é😀', '+', '/', '[', '{"a":1}', 'x=1', '"', '#', '?'),
  fc.string(),
);
const string = { type: 'string' };
const integer = { type: 'integer', format: 'int64' };
const members = { x: integer, y: string };
const kinds: readonly (readonly [schema: object, value: fc.Arbitrary<unknown>])[] = [
  [string, text],
  [integer, int64.map(asReceived)],
  [{ type: 'boolean' }, fc.boolean()],
  [{ type: 'array', items: string }, fc.array(text, { maxLength: 3 })],
  [{ type: 'array', items: integer }, fc.array(int64.map(asReceived), { maxLength: 3 })],
  [{ type: 'object', properties: members }, fc.record({ x: fc.integer(), y: text })],
  [
    { type: 'object', properties: { x: { type: 'array', items: string }, y: string } },
    fc.record({ x: fc.array(text, { maxLength: 2 }), y: text }),
  ],
  [
    { type: 'object', additionalProperties: string },
    fc.dictionary(fc.constantFrom('x', 'p', 'q z', 'constructor'), text, { minKeys: 1 }),
  ],
];
const parameters = fc.constantFrom(...kinds).chain(([schema, value]) =>
  fc.record({
    value,
    declared: fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          place: fc.constantFrom(...places),
          others: fc.boolean().map((explode) => ({ explode, schema })),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom(...places).map((place) => ({
          place: { in: place.in },
          others: { content: { 'application/json': { schema } } },
        })),
      },
    ),
  }),
);

/** An empty list in a query or cookie is not sent. */
const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;

test('a server reads the values that a client has sent, or the client rejects them', () => {
  let sent = 0;
  const list = fc.array(parameters, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(list, (all) => {
      const named = all.map(({ value, declared: { place, others } }, index) => {
        const name = `${place.in === 'header' ? 'X-' : ''}${['a', 'x', 'b'][index]}`;
        return { value, declared: { name, ...place, ...others, required: place.in === 'path' } };
      });
      const inPath = named.filter(({ declared }) => declared.in === 'path');
      const path = `/t${inPath.map(({ declared: { name } }) => `/{${name}}`).join('')}`;
      const parameters = named.map(({ declared }) => declared);
      const paths = { [path]: { get: { operationId: 'a', parameters } } };
      const operations = operationsOf(createSchemas({ paths }));
      const input: Record<string, Record<string, unknown>> = {};
      for (const { value, declared } of named)
        input[declared.in] = { ...input[declared.in], [declared.name]: value };
      const written = writtenBy(routesOf<'a'>(operations).a, input);
      if (written === undefined) return;
      sent += 1;
      const [requestPath = '', query = ''] = written.url.split('?');
      const headers = Object.entries(written.headers).map(([key, each]) => [
        key.toLowerCase(),
        each,
      ]);
      const read = parameterReader(only(operations));
      const request = { path: requestPath, query, headers: Object.fromEntries(headers) };
      const { values, violations } = read(request);
      expect(violations).toEqual([]);
      const expected: typeof input = { path: {}, query: {}, header: {}, cookie: {} };
      for (const { value, declared } of named) {
        const { in: place, name } = declared;
        const isLeftOut = isEmpty(value) && !Object.hasOwn(values[place], name);
        if (!isLeftOut) expected[place] = { ...expected[place], [name]: value };
      }
      expect(values).toEqual(expected);
    }),
    randomValues(1_000),
  );
  expect(sent).toBeGreaterThan(300);
});

/** Returns `undefined` if the client rejects a value. */
function writtenBy(route: Parameters<typeof writeParameters>[0], input: object) {
  try {
    return writeParameters(route, input);
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return undefined;
  }
}
