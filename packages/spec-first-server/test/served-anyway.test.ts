import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { echo, serve, withFiles } from '../../../test/support/documents.ts';

const MEMBERS = {
  empty: '{ enum: [] }',
  twice: '{ type: object, required: [a, a], properties: { a: { type: string } } }',
  pattern: "{ type: string, pattern: '^a\\-b$' }",
  names: "{ type: object, patternProperties: { '^\\-': { type: integer } }, additionalProperties: false }",
  insensitive: '{ type: string, pattern: "(?i)^leaf\\\\z" }',
  required: '{ type: object, properties: { a: { type: string, required: true } } }',
  dynamic: "{ $dynamicRef: '#whole' }",
  anchored: "{ $ref: '#whole' }",
  identified: '{ $id: https://host.example/s, type: integer }',
  preset: '{ type: integer, default: many }',
  unknown: '{ myKeyword: 5, type: integer }',
  nullable: '{ nullable: true, type: integer }',
  choice: '{ type: string, nullable: true, enum: [a] }',
  named: '{ $ref: "#/components/schemas/Whole", nullable: true }',
  holder: '{ properties: { nullable: { type: boolean } } }',
  exclusive: '{ type: integer, minimum: 1, exclusiveMinimum: true }',
  any: 'true',
};
const PROPERTIES = Object.entries(MEMBERS).map(([name, schema]) => `        ${name}: ${schema}\n`);

const DOCUMENT = `openapi: 3.2.0
info: { title: Served with notices, version: 1.0.0, unknown: 1 }
paths:
  /a:
    post:
      operationId: an operation
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/S' } } } }
      responses: { '200': { description: it, content: { application/json: { schema: true } } } }
components:
  schemas:
    Whole: { $dynamicAnchor: whole, type: integer }
    S:
      type: object
      properties:
${PROPERTIES.join('')}`;

describe('a document with members that are not enforced is served:', () => {
  let served: Awaited<ReturnType<typeof serve>>;
  beforeAll(async () => {
    served = await withFiles({ 'openapi.yaml': DOCUMENT }, (folder) =>
      serve(join(folder, 'openapi.yaml'), { 'an operation': echo }),
    );
  });

  test.each<[string, object, string | undefined]>([
    ['a default that does not fit is not filled in', {}, undefined],
    ['an empty enum has no value', { empty: 1 }, '/body/empty must not be present: its enum is empty'],
    ['a name that is required twice is required', { twice: {} }, "/body/twice/a must have required property 'a'"],
    ['a pattern without the flag u matches', { pattern: 'a-b' }, undefined],
    ['a pattern without the flag u is checked', { pattern: 'a' }, '/body/pattern must match pattern "^a\\-b$"'],
    ['names match a pattern without the flag u', { names: { '-a': 1 } }, undefined],
    [
      'names that a pattern without the flag u matches are checked',
      { names: { '-a': 'b' } },
      '/body/names/-a must be integer',
    ],
    ['a flag inside a pattern has its effect', { insensitive: 'LEAF' }, undefined],
    ['such a pattern is checked', { insensitive: 'LEAFS' }, '/body/insensitive must match pattern'],
    [
      'a property that is required by itself is required',
      { required: {} },
      "/body/required/a must have required property 'a'",
    ],
    ['$dynamicRef is followed', { dynamic: 'a' }, '/body/dynamic must be integer'],
    ['an anchor is followed', { anchored: 'a' }, '/body/anchored must be integer'],
    ['$id changes nothing', { identified: 'a' }, '/body/identified must be integer'],
    ['an unknown keyword changes nothing', { unknown: 'a' }, '/body/unknown must be integer'],
    ['nullable admits null', { nullable: null, choice: null, named: null }, undefined],
    ['nullable admits nothing else', { nullable: 'a' }, '/body/nullable must be integer,null'],
    ['a property may be named nullable', { holder: { nullable: 5 } }, '/body/holder/nullable must be boolean'],
    ['a boolean exclusiveMinimum changes nothing', { exclusive: 1 }, undefined],
    ['the minimum beside it is checked', { exclusive: 0 }, '/body/exclusive must be >= 1'],
    ['a schema may be true', { any: [] }, undefined],
  ])('%s', async (_title, body, message) => {
    const response = await served.client.post('/a').send(body);
    if (message === undefined) expect(response.body.body).toEqual(body);
    else expect(response.body).toEqual({ error: 400, message: expect.stringContaining(message) });
  });
});
