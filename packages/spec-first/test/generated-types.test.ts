import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { writeFiles } from 'test-support/files';
import { compile, makeProject } from 'test-support/project';
import { generateClient, generateTypes } from '../src/types.ts';

const HEAD = `openapi: 3.1.0
info: { title: Garden, version: 1.0.0, license: { name: MIT, identifier: MIT } }
servers: [{ url: 'https://garden.test' }]
`;

const EVERYTHING = `${HEAD}security: [{ key: [] }]
webhooks:
  grown: { post: { operationId: grown, summary: Grown., requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Plant' } } } }, responses: { '204': { description: Seen. }, '400': { description: No. } } } }
paths:
  /plants/{id}:
    parameters:
      - { name: id, in: path, required: true, schema: { type: integer } }
      - { name: limit, in: query, schema: { $ref: '#/components/schemas/Limit' } }
    get:
      operationId: readPlant
      summary: Reads.
      security: []
      parameters:
        - { name: sort, in: query, required: true, schema: { type: string, default: name } }
        - { name: Authorization, in: header, required: true, schema: { type: string } }
        - { name: X-Trace, in: header, schema: { type: string, default: none } }
        - { name: size, in: query, content: { text/plain: { schema: { type: integer } } } }
        - { name: filter, in: query, content: { application/json: { schema: { type: object, properties: { kind: { type: string } } } } } }
      responses:
        '200':
          description: 'A plant, */ and all.'
          headers:
            X-Count: { $ref: '#/components/headers/Count' }
          content: { application/json: { schema: { $ref: '#/components/schemas/Plant' } } }
        4XX: { description: No. }
    put:
      operationId: plants/replace
      summary: Replaces.
      security: [{ key: [] }, {}]
      requestBody:
        required: true
        content:
          application/json: { schema: { $ref: '#/components/schemas/Plant' } }
          image/png: { schema: { type: string, format: binary } }
          multipart/form-data:
            encoding: { meta: { contentType: application/json } }
            schema:
              type: object
              required: [photo, scan, meta, note]
              properties:
                photo: { type: string, format: binary }
                scan: {}
                meta: {}
                note: { type: string }
                code: { type: string, format: binary, contentEncoding: base64 }
                marked: { x-note: big }
                more: { type: array, items: { type: string, contentMediaType: image/png } }
      responses: { '204': { description: Done. }, '400': { description: No. } }
  /same: { $ref: '#/components/pathItems/Same' }
components:
  securitySchemes: { key: { type: apiKey, in: header, name: X-Key } }
  headers: { Count: { schema: { type: integer } } }
  pathItems:
    Same: { delete: { operationId: removeAll, summary: Removes., responses: { '204': { description: Done. }, '400': { description: No. } } } }
  schemas:
    Limit: { type: integer, format: int32, default: 10 }
    Stamp: { type: string, readOnly: true }
    title: { type: string }
    properties: { type: integer }
    Odd: { type: object, required: [one], properties: { one: { $ref: '#/components/schemas/properties' } } }
    Base: { type: [object, 'null'], properties: { id: { type: integer }, note: { type: string } } }
    Named: { allOf: [{ $ref: '#/components/schemas/Base' }], required: [id] }
    Both: { allOf: [{ type: object, properties: { part: { type: string } } }, { type: object }] }
    Part: { $ref: '#/components/schemas/Both/allOf/0/properties/part' }
    Plant:
      type: object
      required: [wide, safe, half, level, maybe, mixed, pair, free, born, secret, next]
      properties:
        wide: { type: integer, format: int64 }
        filled: { type: string, default: x }
        safe: { type: integer, format: int64, exclusiveMinimum: 0, maximum: 9007199254740991 }
        half: { type: integer, format: int64, minimum: 0, maximum: 18446744073709551615 }
        level: { type: integer, enum: [1, 2] }
        large: { type: integer, format: int64, enum: [1, 9007199254740993, -9007199254740993] }
        maybe: { type: [integer, 'null'] }
        mixed: { type: integer, allOf: [{ minimum: 1 }] }
        pair: { type: array, minItems: 1, prefixItems: [{ type: integer }, { type: string }], items: false }
        gone: false
        free: { type: object }
        born: { $ref: '#/components/schemas/Stamp' }
        secret: { type: string, writeOnly: true }
        next: { type: array, items: { $ref: '#/components/schemas/Plant/$defs/Link' } }
      $defs: { Link: { type: object, required: [to], properties: { to: { type: integer, format: int32, readOnly: true } } } }
      anyOf: [{ type: object, required: [a], properties: { a: { type: string } } }, { type: object, required: [b], properties: { b: { type: string } } }]
`;

const EVERYTHING_CLAIMS = `import type { components, defaults, Int64, operations, paths, Plant as Reply, PlantWritable as Request, Sent, security, webhooks } from './generated/openapi.ts';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Plant = components['schemas']['Plant'];
type Read = operations['readPlant'];
type Bodies = operations['plants/replace']['requestBody']['content'];
type Named = components['schemas']['Named'];
type Part = components['schemas']['Part'];
type Form = Bodies['multipart/form-data'];
type Event = webhooks['grown']['post']['requestBody']['content']['application/json'];

const claims: true[] = [
  true satisfies Same<Int64, number | bigint>,
  true satisfies Same<Plant['wide'], Int64>,
  true satisfies Same<Plant['safe'], number>,
  true satisfies Same<Plant['half'], Int64>,
  true satisfies Same<Plant['level'], 1 | 2>,
  true satisfies Same<Plant['large'], Int64 | undefined>,
  true satisfies Same<Plant['maybe'], number | null>,
  true satisfies Same<Plant['mixed'], number>,
  true satisfies Same<Plant['pair'], [number, string?]>,
  true satisfies Same<Plant['gone'], undefined>,
  true satisfies Same<Plant['free'], Record<string, unknown>>,
  true satisfies Same<Read['parameters']['path'], { id: number }>,
  true satisfies Same<NonNullable<Read['parameters']['query']>['filter'], { kind?: string } | undefined>,
  true satisfies Same<NonNullable<Read['parameters']['query']>['size'], number | undefined>,
  true satisfies Same<keyof NonNullable<Read['parameters']['header']>, 'X-Trace'>,
  true satisfies Same<Read['responses'][200]['headers']['X-Count'], number | undefined>,
  true satisfies Same<Form, { photo: File; scan: File; meta: unknown; note: string; code?: string; marked?: File; more?: File[] }>,
  true satisfies Same<Bodies['image/png'], string>,
  true satisfies Same<security['readPlant'], undefined>,
  true satisfies Same<security['plants/replace'], 'key' | undefined>,
  true satisfies Same<security['removeAll'], 'key'>,
  true satisfies Same<keyof operations, keyof security>,
  true satisfies Same<defaults['readPlant'], { query: 'limit'; header: 'X-Trace' }>,
  true satisfies Same<defaults['plants/replace'], { query: 'limit' }>,
  true satisfies Same<keyof defaults, 'readPlant' | 'plants/replace'>,
  true satisfies Same<Reply['born'], string>,
  true satisfies Same<Reply['next'], { to: number }[]>,
  true satisfies Same<Request['secret'], string>,
  true satisfies Same<Request['next'], {}[]>,
  true satisfies Same<'secret' extends keyof Reply ? true : false, false>,
  true satisfies Same<'born' extends keyof Request ? true : false, false>,
  true satisfies Same<Request['filled'], string>,
  true satisfies Same<Reply['filled'], string | undefined>,
  true satisfies Same<Event, Reply<Sent>>,
  true satisfies Same<paths['/plants/{id}']['get'], Read>,
  true satisfies Same<Named, { id: number; note?: string } | null>,
  true satisfies Same<Part, string>,
  true satisfies Same<components['schemas']['title'], string>,
  true satisfies Same<components['schemas']['Odd']['one'], number>,
];

const common = { wide: 1n, safe: 1, half: 1, level: 1, maybe: null, mixed: 1, pair: [1], free: { any: 1 } } as const;
export const reply: Reply = { ...common, pair: [1], born: 'today', next: [{ to: 1 }], a: 'x' };
export const request: Request = { ...common, pair: [1, 'x'], secret: 's', filled: 'x', next: [{}], b: 'x' };
// @ts-expect-error a reply must have readOnly members
export const unborn: Reply = { ...common, pair: [1], next: [], a: 'x' };
// @ts-expect-error a value must also fit one of the alternatives
export const neither: Reply = { ...common, pair: [1], born: 'today', next: [] };
export default claims;
`;

const SCHEMAS = `openapi: 3.1.0
info: { title: Types, version: 1.0.0 }
security: []
paths:
  /a:
    put:
      operationId: put
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Order' } } } }
      responses: { '200': { description: it, content: { application/json: { schema: { $ref: '#/components/schemas/Order' } } } } }
  /tags:
    get: { operationId: tag, responses: { '200': { description: it, content: { application/json: { schema: { $ref: '#/components/schemas/Tags' } } } } } }
components:
  schemas:
    JsonValue:
      anyOf:
        - { type: [string, number, boolean, 'null'] }
        - { type: array, items: { $ref: '#/components/schemas/JsonValue' } }
        - { type: object, additionalProperties: { $ref: '#/components/schemas/JsonValue' } }
    Filter:
      oneOf:
        - { type: object, required: [not], properties: { not: { $ref: '#/components/schemas/Filter' } } }
        - { type: object, required: [all], properties: { all: { type: array, items: { $ref: '#/components/schemas/Filter' } } } }
        - { type: string }
    Prices: { type: object, required: [currency], properties: { currency: { type: string }, note: { type: string } }, additionalProperties: { type: number } }
    Base: { type: object, properties: { id: { type: integer }, name: { type: string } } }
    Deep: { allOf: [{ $ref: '#/components/schemas/Base' }, { type: object, properties: { n: { type: integer } } }] }
    WithId: { allOf: [{ $ref: '#/components/schemas/Base' }, { required: [id] }] }
    WithDeepId: { allOf: [{ $ref: '#/components/schemas/Deep' }, { required: [id] }] }
    Tags: { type: object, required: [lists], properties: { lists: { type: array, items: { type: array, items: { type: string } } }, pair: { type: array, prefixItems: [{ type: string }], items: false } } }
    Order: { type: object, required: [at, day], properties: { at: { type: string, format: date-time }, day: { type: string, format: date }, gone: { type: [string, 'null'], format: date-time } } }
    Circle: { type: object, required: [kind, radius], properties: { kind: { type: string }, radius: { type: number } } }
    Square: { type: object, required: [kind, side], properties: { kind: { type: string }, side: { type: number } } }
    Shape:
      oneOf: [{ $ref: '#/components/schemas/Circle' }, { $ref: '#/components/schemas/Square' }]
      discriminator: { propertyName: kind, mapping: { round: Circle } }
    Pet: { type: object, required: [type], properties: { type: { type: string } }, discriminator: { propertyName: type } }
    Cow: { allOf: [{ $ref: '#/components/schemas/Pet' }, { type: object, required: [milk], properties: { milk: { type: integer } } }] }
`;

const SCHEMAS_CLAIMS = `import type { Deep, Filter, JsonValue, Order, Pet, Prices, ReplyTo, RequestTo, Sent, Shape, Tags, WithDeepId, WithId } from './generated/openapi.ts';

export const json: JsonValue = { a: [1, 'x', null, { b: true }] };
export const filter: Filter = { not: { all: ['x', { not: 'y' }] } };
// @ts-expect-error a filter is not a number
export const wrongFilter: Filter = { not: 1 };

export const prices: Prices = { currency: 'EUR', small: 1, large: 2 };
export const withoutNote: Prices = { currency: 'EUR', note: undefined };
// @ts-expect-error a price is not a boolean
export const wrongPrices: Prices = { currency: 'EUR', small: true };

export const withId: WithId = { id: 1 };
// @ts-expect-error the id is required
export const withoutId: WithId = { name: 'a' };
export const withDeepId: WithDeepId = { id: 1, n: 2 };
// @ts-expect-error the id is required
export const withoutDeepId: WithDeepId = { n: 2 };
export const optional: Deep = {};

export const plain: Order = { at: '2024-01-01T00:00:00Z', day: '2024-01-01' };
export const reply: ReplyTo<'put'> = { status: 200, body: { at: new Date(), day: new Date(), gone: null } };
export const temporal: Order<Sent> = { at: Temporal.Now.instant(), day: Temporal.Now.plainDateISO() };
// @ts-expect-error a number is no date
export const numeric: Order<Sent> = { at: 1, day: '2024-01-01' };
declare const lists: readonly (readonly string[])[];
export const tags: ReplyTo<'tag'> = { status: 200, body: { lists, pair: ['a'] as const } };
// @ts-expect-error a list of a request may be changed, so it is not readonly
export const received: Tags = { lists };
// @ts-expect-error an item is a string
export const wrongTags: ReplyTo<'tag'> = { status: 200, body: { lists: [[1]] } };
export const same: ReplyTo<'put'> = { status: 200, body: plain };
export const read = ({ body }: RequestTo<'put'>): string => body.at + body.day;
// @ts-expect-error a stored order has strings
export const dated: Order = { at: new Date(), day: '2024-01-01' };

export function area(shape: Shape): number {
  return shape.kind === 'round' ? shape.radius : shape.side;
}
export const shape: Shape = { kind: 'round', radius: 1 };
// @ts-expect-error the mapping names the kind
export const wrongShape: Shape = { kind: 'Circle', radius: 1 };

export const cow: Pet = { type: 'Cow', milk: 1 };
// @ts-expect-error a cow has milk
export const dry: Pet = { type: 'Cow' };
`;

/** Schemas that form a cycle. TypeScript stops comparing types at a depth of 100. */
function chainOf(length: number, isUnion: boolean): string {
  const time = { type: 'string', format: 'date-time' };
  const schemas = Array.from({ length }, (_, index) => {
    const next = { $ref: `#/components/schemas/Link${(index + 1) % length}` };
    const list = { type: 'array', items: next };
    const link = { type: 'object', required: ['at'], properties: { at: time, list, next } };
    const base = { $ref: '#/components/schemas/Base' };
    if (isUnion) return [`Link${index}`, { oneOf: [link, { type: 'string' }] }];
    return [`Link${index}`, index % 2 === 0 ? link : { allOf: [base, link] }];
  });
  const Base = { type: 'object', properties: { day: { type: 'string', format: 'date' } } };
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Link0' } } };
  const put = {
    operationId: 'put',
    requestBody: { required: true, content },
    responses: { 200: { description: 'It.', content } },
  };
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Chain', version: '1.0.0' },
    paths: { '/a': { put } },
    components: { schemas: { Base, ...Object.fromEntries(schemas) } },
  });
}

const CHAIN_CLAIMS = `import type { Handlers, Link0, Sent } from './generated/openapi.ts';

export const echo: Handlers = { put: ({ body }) => ({ status: 200, body }) };
export const dated: Handlers = {
  put: ({ body }) => {
    if (typeof body === 'string') return { status: 200, body };
    return { status: 200, body: { ...body, at: new Date(), list: [body.next ?? { at: new Date() }] } };
  },
};
declare const link: Link0;
export const sent: readonly Link0<Sent>[] = [link];
// @ts-expect-error a received date is a string
export const received: Link0 = sent[0] ?? link;
`;

async function writeSources(folder: string, document: string): Promise<string> {
  writeFiles(folder, { 'openapi.yaml': document });
  const loaded = await loadDocument(join(folder, 'openapi.yaml'));
  const types = await generateTypes(loaded);
  const client = await generateClient(loaded);
  writeFiles(folder, { 'generated/openapi.ts': types, 'generated/client.ts': client });
  return types + client;
}

/** Adds schemas that are named like the keywords and the words of the generated files. */
function withTakenNames(document: string, generated: string): string {
  const keywords =
    'any as async await boolean break case class const declare default delete enum export extends false function get global if import in infer interface is keyof let module namespace never new null number object of out package private public readonly require return satisfies set static string super switch symbol this true type typeof undefined unique unknown var void with yield'.split(
      ' ',
    );
  const names = new Set([...keywords, ...(generated.match(/\b[a-z]\w*\b/gi) ?? [])]);
  const schemas = [...names]
    .filter((name) => !document.includes(`\n    ${name}:`))
    .map((name) => `    ${JSON.stringify(name)}: { type: integer }\n`);
  return document + schemas.join('');
}

const SOURCES = [
  ['everything', EVERYTHING, EVERYTHING_CLAIMS],
  ['schemas', SCHEMAS, SCHEMAS_CLAIMS],
] as const;

const CHAINS = [
  ['cycle', chainOf(150, false)],
  ['cycle-of-unions', chainOf(150, true)],
] as const;

let folder = '';
let errors: readonly string[] = [];

beforeAll(async () => {
  folder = makeProject({});
  for (const [name, document, claims] of SOURCES) {
    const top = join(folder, 'src', name);
    writeFiles(top, { 'claims.ts': claims });
    const generated = await writeSources(top, document);
    await writeSources(join(folder, 'src', `${name}-names`), withTakenNames(document, generated));
  }
  for (const [name, document] of CHAINS) {
    const top = join(folder, 'src', name);
    writeFiles(top, { 'claims.ts': CHAIN_CLAIMS });
    await writeSources(top, document);
  }
  errors = compile(folder).trim().split('\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  ['for integers, files, readOnly members, defaults and tuples', 'everything'],
  ['for recursive schemas, maps, required members, dates and discriminators', 'schemas'],
  ['for schemas with the names of keywords and of words in the file', 'everything-names'],
  ['for schemas with the names of other schemas', 'schemas-names'],
  ...CHAINS.map(([name]) => [`for schemas that form a ${name}`, name] as const),
])('types compile %s', (_, name) => {
  // A message without a file concerns all sources.
  const isRelevant = (error: string) => error.includes(`src/${name}/`) || !error.startsWith('src/');
  expect(errors.filter((error) => error !== '' && isRelevant(error))).toEqual([]);
});
