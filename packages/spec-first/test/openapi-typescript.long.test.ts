import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import {
  asObject,
  type Document,
  loadDocument,
  type MediaType,
  stringifyJson,
} from 'openapi-document';
import { documentFile } from 'test-support/documents';
import { writeFiles } from 'test-support/files';
import { compile, makeProject } from 'test-support/project';
import { astToString, openapiTypes, ts } from 'test-support/typescript-5';
import { generateTypes } from '../src/types.ts';

const TOP = join(import.meta.dirname, '../../..');
const example = (name: string) => join(TOP, 'examples', name, 'openapi.yaml');

const DOCUMENTS = {
  plants: join(TOP, 'openapi.yaml'),
  books: join(TOP, 'packages/spec-first/templates/books.yaml'),
  bookings: example('bookings'),
  events: example('events'),
  files: example('files'),
  shop: example('shop'),
  bodies: documentFile('bodies.yaml'),
  integers: documentFile('integers.yaml'),
  parameters: documentFile('parameters.yaml'),
  schemas: documentFile('schemas.yaml'),
  security: documentFile('security.yaml'),
  library: join(import.meta.dirname, 'library/openapi.yaml'),
};

/** Reasons for types that accept other values, with the names of the types by document. */
const DIFFERENCES: readonly (readonly [reason: string, Readonly<Record<string, string[]>>])[] = [
  [
    'a server fills in the defaults of requests',
    { bookings: ['NewRoom'], schemas: ['Filled', 'Inner', 'WithDefault'] },
  ],
  [
    'a file of a form is a File, not a string',
    { bodies: ['take multipart/form-data'], files: ['uploadFile multipart/form-data'] },
  ],
  [
    'a constant beyond 2^53 is a bigint, not another number',
    { integers: ['Large', 'Echo', 'Numbers'] },
  ],
  [
    'requests have no readOnly members, responses no writeOnly members',
    { schemas: ['Account'], shop: ['NewCustomer'] },
  ],
  [
    'a mapping of a discriminator selects, also inside of another union; enums keep their values',
    {
      schemas: ['Shape', 'Event', 'Message', 'User', 'Tool', 'shapes application/json', 'Other'],
      shop: ['PaymentMethod', 'Payment'],
    },
  ],
  [
    'an alternative alone may have other values of the discriminator',
    {
      schemas: ['Cat', 'Dog', 'Kitten', 'Made', 'Circle', 'Square'],
      shop: ['Card', 'Transfer', 'Voucher'],
    },
  ],
  ['a base with a discriminator means one of the schemas that extend it', { schemas: ['Pet'] }],
  ['items of a tuple may be missing below `minItems`', { schemas: ['Modern'] }],
  [
    '`required` applies to members that another part of `allOf` declares',
    { shop: ['ProductPage', 'Product'] },
  ],
  [
    'additional members do not restrict declared ones in the index signature',
    { schemas: ['B'], parameters: ['exploded query'] },
  ],
  ['a parameter with `content` has the value, not its text', { parameters: ['query query'] }],
  [
    'the data of events is decoded',
    { events: ['watchMessages 200 text/event-stream'], shop: ['watchOrder 200 text/event-stream'] },
  ],
  [
    'an object without properties has any members, not none',
    {
      security: [
        ...['secured', 'open', 'optional', 'either', 'both', 'scoped', 'graded', 'body'].map(
          (id) => `${id} 200 application/json`,
        ),
        'body application/json',
      ],
    },
  ],
];

/** The type of a reference is the type of a schema. */
const isInline = ({ source }: MediaType) => asObject(source.schema).$ref === undefined;

/** Returns the paths of the types to compare, by name: schemas, and the values of operations. */
function pathsIn({ root, operations }: Document): Map<string, string> {
  const paths = new Map<string, (string | number)[]>();
  for (const name of Object.keys(asObject(asObject(root.components).schemas)))
    paths.set(name, ['components', 'schemas', name]);
  for (const { id, parameters, requestBody, responses } of operations) {
    for (const { in: where } of parameters)
      paths.set(`${id} ${where}`, ['operations', id, 'parameters', where]);
    for (const { type } of requestBody?.media.filter(isInline) ?? [])
      paths.set(`${id} ${type}`, ['operations', id, 'requestBody', 'content', type]);
    for (const { key, media } of responses) {
      const status = /^\d+$/.test(key) ? Number(key) : key;
      for (const { type } of media.filter(isInline))
        paths.set(`${id} ${key} ${type}`, ['operations', id, 'responses', status, 'content', type]);
    }
  }
  return new Map([...paths].map(([name, path]) => [name, JSON.stringify(path)]));
}

const PRELUDE = `
import type { components, operations } from './ours.ts';
import type * as theirs from './theirs.ts';

interface Ours { components: components; operations: operations }
interface Theirs { components: theirs.components; operations: theirs.operations }
type At<T, Path> = Path extends [infer Key, ...infer Rest]
  ? At<Key extends keyof NonNullable<T> ? NonNullable<T>[Key] : 'missing', Rest>
  : NonNullable<T>;
type Compared<Path, A = At<Ours, Path>, B = At<Theirs, Path>> = [A] extends [B]
  ? ([B] extends [A] ? 'same' : 'other')
  : 'other';
`;

/** The types of openapi-typescript, with the options that are closest to ours. */
async function theirTypes({ root }: Document): Promise<string> {
  const int64 = ts.factory.createTypeReferenceNode('Int64');
  const nodes = await openapiTypes(JSON.parse(stringifyJson(root) ?? ''), {
    defaultNonNullable: false,
    transform: ({ type, format }) => (type === 'integer' && format === 'int64' ? int64 : undefined),
  });
  return `export type Int64 = number | bigint;\n${astToString(nodes)}`;
}

/** The names of the types that accept other values, by document. */
const different = new Map<string, string[]>();
let count = 0;

beforeAll(async () => {
  const folder = makeProject({});
  const names = new Map<string, string>();
  for (const [name, file] of Object.entries(DOCUMENTS)) {
    const document = await loadDocument(file);
    const claims = [...pathsIn(document)].map(([place, path], index) => {
      names.set(`${name} ${index + 1}`, place);
      return `export const claim${index}: Compared<${path}> = 'same';\n`;
    });
    writeFiles(join(folder, 'src', name), {
      'ours.ts': await generateTypes(document),
      'theirs.ts': await theirTypes(document),
      'claims.ts': claims.join('') + PRELUDE,
    });
  }
  count = names.size;
  for (const error of compile(folder).trim().split('\n')) {
    const [, name = '', line] =
      /^src\/(\w+)\/claims\.ts\((\d+),\d+\): error TS2322/.exec(error) ?? [];
    const place = names.get(`${name} ${line}`);
    if (place === undefined) throw new Error(error);
    different.set(name, [...(different.get(name) ?? []), place]);
  }
  rmSync(folder, { recursive: true });
});

test('types accept the same values as those of openapi-typescript, except for known reasons', () => {
  const expected = new Map<string, string[]>();
  for (const [, places] of DIFFERENCES)
    for (const [name, list] of Object.entries(places))
      expected.set(name, [...(expected.get(name) ?? []), ...list]);
  const sorted = (map: Map<string, string[]>) =>
    Object.fromEntries([...map].map(([name, list]) => [name, list.toSorted()]));
  expect(sorted(different)).toEqual(sorted(expected));
  expect(count).toBeGreaterThan(150);
});
