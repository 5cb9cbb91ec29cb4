import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { run as generate } from '../src/generate.ts';
import { call } from './call.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: Types, version: 1.0.0 }
security: []
paths:
  /a:
    put:
      operationId: put
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Order' } } } }
      responses: { '200': { description: it, content: { application/json: { schema: { $ref: '#/components/schemas/Order' } } } } }
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
    Order: { type: object, required: [at, day], properties: { at: { type: string, format: date-time }, day: { type: string, format: date }, gone: { type: [string, 'null'], format: date-time } } }
    Circle: { type: object, required: [kind, radius], properties: { kind: { type: string }, radius: { type: number } } }
    Square: { type: object, required: [kind, side], properties: { kind: { type: string }, side: { type: number } } }
    Shape:
      oneOf: [{ $ref: '#/components/schemas/Circle' }, { $ref: '#/components/schemas/Square' }]
      discriminator: { propertyName: kind, mapping: { round: Circle } }
    Pet: { type: object, required: [type], properties: { type: { type: string } }, discriminator: { propertyName: type } }
    Cow: { allOf: [{ $ref: '#/components/schemas/Pet' }, { type: object, required: [milk], properties: { milk: { type: integer } } }] }
`;

const CLAIMS = `import type { Deep, Filter, JsonValue, Order, Pet, Prices, ReplyTo, RequestTo, Shape, WithDeepId, WithId } from './generated/openapi.ts';

export const json: JsonValue = { a: [1, 'x', null, { b: true }] };
export const filter: Filter = { not: { all: ['x', { not: 'y' }] } };
// @ts-expect-error a filter is no number
export const wrongFilter: Filter = { not: 1 };

export const prices: Prices = { currency: 'EUR', small: 1, large: 2 };
export const withoutNote: Prices = { currency: 'EUR', note: undefined };
// @ts-expect-error a price is no boolean
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

test('recursive schemas, maps, required members, dates and discriminators have correct types', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'schema-types-'));
  try {
    const project = {
      extends: resolve('tsconfig.json'),
      compilerOptions: { typeRoots: [resolve('node_modules/@types')], incremental: false },
      include: ['claims.ts', 'generated'],
    };
    mkdirSync(join(folder, 'generated'));
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    const files = {
      'openapi.yaml': DOCUMENT,
      'claims.ts': CLAIMS,
      'package.json': '{ "type": "module" }',
      'tsconfig.json': JSON.stringify(project),
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    expect(await call(folder, generate)).toMatchObject({ status: 0 });
    const compiler = resolve('node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' });
    expect(stdout).toBe('');
    const types = readFileSync(join(folder, 'generated/openapi.ts'), 'utf8');
    expect(types).toContain(
      'export type JsonValue = (string | number | boolean | null) | JsonValue[] | {',
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('schemas that contain themselves directly are reported, and the other types are generated', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'schema-types-'));
  try {
    const text = DOCUMENT.replace(
      'components:\n  schemas:\n',
      `components:
  schemas:
    P: { oneOf: [{ $ref: '#/components/schemas/C' }] }
    C: { allOf: [{ $ref: '#/components/schemas/P' }, { type: object }] }
`,
    );
    writeFileSync(join(folder, 'openapi.yaml'), text);
    const { stdout, stderr } = await call(folder, generate);
    expect(stderr).toContain(
      'openapi.yaml:12:5 the schema refers to itself for the same value: oneOf → #/components/schemas/C → allOf → #/components/schemas/P',
    );
    expect(stdout).toContain('generated/openapi.ts written');
    const types = readFileSync(join(folder, 'generated/openapi.ts'), 'utf8');
    expect(types).toContain('export type P = unknown;');
    expect(types).toContain('export type C = Record<string, unknown>;');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
