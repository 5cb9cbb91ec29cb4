import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { withFiles } from 'test-support/files';
import { firstNotices } from '../src/check.ts';
import { run as command } from '../src/generate.ts';
import { call } from './call.ts';

const TYPES = 'generated/openapi.ts';

const generate = (folder: string, ...args: string[]) => call(folder, command, ...args);

const typesIn = (folder: string) => readFileSync(join(folder, TYPES), 'utf8');

const HEAD = `openapi: 3.1.0
info: { title: Garden, version: 1.0.0, license: { name: MIT, identifier: MIT } }
servers: [{ url: 'https://garden.test' }]
`;

const SMALL = `${HEAD}security: []
paths:
  /plants:
    get:
      operationId: listPlants
      summary: Lists plants.
      responses:
        '200':
          description: Plants.
          content:
            application/json:
              schema: { $ref: 'schemas/plant.yaml#/Plant' }
        '400': { description: No plants. }
`;

const PLANT = `Plant:
  type: object
  properties:
    name: { type: string }
    next: { $ref: '#/Plant' }
`;

describe('npm run generate', () => {
  test('writes the same types for a document of several files each time, and in any folder', async () => {
    const files = { 'openapi.yaml': SMALL, 'schemas/plant.yaml': PLANT };
    await withFiles(files, async (folder) => {
      expect(await generate(folder)).toMatchObject({
        status: 0,
        stderr: '',
        stdout: expect.stringContaining(`${TYPES} written`),
      });
      const types = typesIn(folder);
      expect(types).toMatch(/^\/\*\*\n \* Generated .* by "npm run generate"\. Do not edit/);
      expect(types).toContain('next?: Plant;');
      expect(types).toContain('/** @see schemas/plant.yaml:1 */\nexport type Plant = {');
      expect(types).toContain(
        '    /**\n     * Lists plants.\n     * @see openapi.yaml:7\n     */\n    listPlants: {',
      );
      expect(await generate(folder, '--check')).toMatchObject({ status: 0, stderr: '' });
      await withFiles(files, async (other) => {
        await generate(other);
        expect(typesIn(other)).toBe(types);
      });
    });
  });

  test('leaves invalid parts out of the types, and names their places', async () => {
    const broken = `${SMALL.replace('summary: Lists plants.', 'summary: { $ref: plants.md }')}components:
  schemas:
    Wrong: { allOf: {}, oneOf: [5], items: 5, properties: { $ref: '#/components/schemas/Map' } }
    Map: { a: { type: string } }
    Right: { type: object, properties: { a: { type: string } } }
    Loop: { oneOf: [{ $ref: '#/components/schemas/Back' }] }
    Back: { allOf: [{ $ref: '#/components/schemas/Loop' }] }
`;
    await withFiles({ 'openapi.yaml': broken, 'schemas/plant.yaml': PLANT }, async (folder) => {
      const { stderr } = await generate(folder, '--all');
      expect(stderr).toMatch(/^openapi\.yaml:9:\d+ .*plants\.md/m);
      expect(stderr).toMatch(/^openapi\.yaml:19:\d+ .*allOf/m);
      const types = typesIn(folder);
      expect(types).toMatch(/export type Right = \{\s+a\?: string;/);
      expect(types).toContain('listPlants: {');
    });
  });

  test('exits with 0 for notices, even with --check', async () => {
    const undeclared = SMALL.replace('/plants:', "'/plants/{id}':");
    const wrong = PLANT.replace('{ type: string }', '{ type: string, example: 7 }');
    await withFiles({ 'openapi.yaml': undeclared, 'schemas/plant.yaml': wrong }, async (folder) => {
      const { status, stderr } = await generate(folder);
      expect(status).toBe(0);
      expect(stderr).toMatch(/path parameter \w+ is not declared/);
      expect(stderr).toMatch(/the example does not fit its schema/);
      expect(await generate(folder, '--check')).toMatchObject({ status: 0 });
    });
  });

  test('with --check, names the command that updates the types, and writes nothing', async () => {
    await withFiles({ 'openapi.yaml': SMALL, 'schemas/plant.yaml': PLANT }, async (folder) => {
      expect(await generate(folder, '--check')).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('is missing. Run "npm run generate"'),
      });
      expect(existsSync(join(folder, TYPES))).toBe(false);
      await generate(folder);
      const types = typesIn(folder);
      writeFileSync(
        join(folder, 'schemas/plant.yaml'),
        PLANT.replace('name: { type: string }', 'name: { type: boolean }'),
      );
      const { status, stderr } = await generate(folder, '--check');
      expect(status).toBe(1);
      expect(stderr).toContain(
        'is stale: it does not fit openapi.yaml. Run "npm run generate" and commit the result.',
      );
      expect(typesIn(folder)).toBe(types);
    });
  });

  test('names file, line and column of an error, even in a referenced file, and writes all other types', async () => {
    const files = {
      'openapi.yaml': SMALL.replace('      summary: Lists plants.\n', ''),
      'schemas/plant.yaml': PLANT.replace('type: string', 'type: strnig'),
    };
    await withFiles(files, async (folder) => {
      const { status, stderr } = await generate(folder);
      expect(status).toBe(1);
      expect(stderr).toMatch(
        /^schemas\/plant\.yaml:\d+:\d+ must be equal to one of the allowed values: .* "strnig"/m,
      );
      expect(stderr).toContain(
        'openapi.yaml has 1 error. Operations with an error respond with 501.',
      );
      expect(typesIn(folder)).toContain('listPlants');
    });
  });

  test.each([
    ['that is not YAML', 'paths: [', '1:9'],
    ['whose paths are not an object', SMALL.replace(/paths:[\s\S]*/, 'paths: 5'), '5:1'],
  ])('leaves the types unchanged for a document %s', async (_, text, place) => {
    await withFiles({ 'openapi.yaml': text, [TYPES]: 'types' }, async (folder) => {
      const { status, stdout, stderr } = await generate(folder);
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(new RegExp(`^openapi\\.yaml:${place} .*$`, 'm'));
      expect(stderr).toContain('openapi.yaml has 1 error. generated/openapi.ts is unchanged.\n');
      expect(typesIn(folder)).toBe('types');
    });
  });

  test('shows ten notices, and all with --all', async () => {
    const paths = Array.from({ length: 12 }, (_, index) => {
      const operation = `get: { operationId: op${index}, summary: It., responses: { '200': { description: It. }, '400': { description: No. } } }`;
      return `  '/a${index}/{same}/{p${index}}': { ${operation} }\n`;
    });
    const text = `${HEAD}security: []\npaths:\n${paths.join('')}`;
    await withFiles({ 'openapi.yaml': text }, async (folder) => {
      const notices = async (...args: string[]) =>
        (await generate(folder, ...args)).stderr.trimEnd().split('\n');
      const allNotices = await notices('--all');
      expect(allNotices).toHaveLength(24);
      const parameter = (name: string) =>
        expect.stringMatching(
          RegExp(`^openapi\\.yaml:\\d+:\\d+ path parameter ${name} .* string$`),
        );
      expect(await notices()).toEqual([
        parameter('p0'),
        'openapi.yaml:6:24 path parameter same is not declared: it is read as a string (12 places)',
        ...Array.from({ length: 8 }, (_, index) => parameter(`p${index + 1}`)),
        'openapi.yaml has 3 more notices. "npm run generate -- --all" shows all, with each place.',
      ]);
    });
  });

  test('writes the types of the formats of src/formats.ts', async () => {
    const schemas = 'components:\n  schemas:\n    Code: { type: string, format: code }\n';
    const format = "{ type: 'Brand', parse: (text: string) => text, stringify: String }";
    const formats = `export const formats = { code: ${format} };\n`;
    const files = { 'openapi.yaml': `${HEAD}paths: {}\n${schemas}`, 'src/formats.ts': formats };
    await withFiles(files, async (folder) => {
      await generate(folder);
      expect(typesIn(folder)).toContain('export type Code = Brand;');
    });
  });

  test('names each example and default that does not fit its schema, with line and column, also with --check', async () => {
    const text = `${HEAD}paths:
  /plants/:
    get:
      operationId: list
      parameters:
        - { name: n, in: query, schema: { type: integer, default: few }, example: many }
      responses:
        '200':
          description: It.
          headers: { X-Count: { schema: { type: integer }, example: none } }
          content:
            application/json:
              schema: { $ref: '#/components/schemas/Plant' }
              examples:
                good: { value: { id: 1, name: Fern, secret: 's' } }
                read: { value: { id: 1, name: Fern } }
                bad: { value: { id: 1, name: 7 } }
                shared: { $ref: '#/components/examples/Shared' }
            application/xml: { schema: { type: object }, example: '<plant/>' }
components:
  examples: { Shared: { value: { id: 2 } } }
  schemas:
    Plant:
      type: object
      required: [id, name, secret]
      properties:
        id: { type: integer, readOnly: true }
        name: { type: string, examples: [Fern, 3] }
        secret: { type: string, writeOnly: true, pattern: '^\\-?s$', example: 'no' }
`;
    await withFiles({ 'openapi.yaml': text }, async (folder) => {
      const wrong = 'the example does not fit its schema:';
      for (const flags of [[], ['--check']]) {
        const { status, stderr } = await generate(folder, ...flags);
        const lines = stderr.split('\n').filter((line) => !line.includes(' has '));
        expect({ status, lines }).toEqual({
          status: 0,
          lines: [
            'openapi.yaml:9:58 the default is ignored, since it does not fit its schema: must be integer',
            `openapi.yaml:9:74 ${wrong} must be integer`,
            `openapi.yaml:13:60 ${wrong} must be integer`,
            `openapi.yaml:20:24 ${wrong} /name must be string`,
            'openapi.yaml:22:13 bodies of application/xml are not checked against their schema, only against the media type',
            `openapi.yaml:24:25 ${wrong} /name is required`,
            `openapi.yaml:31:48 ${wrong} must be string`,
            'openapi.yaml:32:9 ^\\-?s$ is not a valid regular expression with the flag u: it is read as /^\\-?s$/',
            `openapi.yaml:32:69 ${wrong} must match pattern "^\\-?s$"`,
            '',
          ],
        });
      }
    });
  });

  test('reads files outside the folder of the document only with --allow-outside', async () => {
    const files = {
      'api/openapi.yaml': SMALL.replace('schemas/plant', '../plant'),
      'plant.yaml': PLANT,
    };
    await withFiles(files, async (folder) => {
      const api = join(folder, 'api');
      expect(await generate(api)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('--allow-outside'),
      });
      expect(await generate(api, '--allow-outside')).toMatchObject({ status: 0 });
    });
  });

  test('with --client, also writes and checks a client', async () => {
    await withFiles({ 'openapi.yaml': SMALL, 'schemas/plant.yaml': PLANT }, async (folder) => {
      const args = ['--client', 'app/plants.ts'];
      expect(await generate(folder, ...args)).toMatchObject({ status: 0 });
      const client = readFileSync(join(folder, 'app/plants.ts'), 'utf8');
      expect(client).toContain('export interface operations {');
      expect(client.match(/^import .*/gm)).toEqual([
        expect.stringContaining("from 'openapi-document/client';"),
      ]);
      expect((await generate(folder, ...args, '--check')).status).toBe(0);
      writeFileSync(join(folder, 'app/plants.ts'), '');
      const stale = await generate(folder, ...args, '--check');
      expect(stale).toMatchObject({
        status: 1,
        stderr:
          'app/plants.ts is stale: it does not fit openapi.yaml. ' +
          'Run "npm run generate -- --client app/plants.ts" and commit the result.\n',
      });
    });
  });

  test('leaves operations with an error and bodies of GET out of the client, with notices', async () => {
    const body = 'requestBody: { content: { text/plain: { schema: { type: string } } } }';
    const text = SMALL.replace("{ $ref: 'schemas/plant.yaml#/Plant' }", '{ type: string }').replace(
      'summary: Lists plants.',
      body,
    );
    const broken = `  /plants/{id}:
    head: { operationId: checkPlant, ${body}, responses: { '204': { description: It exists. } } }
    get:
      operationId: getPlant
      parameters: [{ $ref: '#/components/parameters/Missing' }]
      responses: { '200': { description: A plant. } }
`;
    await withFiles({ 'openapi.yaml': text + broken }, async (folder) => {
      const { status, stderr } = await generate(folder, '--client', 'app/plants.ts');
      expect([status, stderr.split('\n')]).toEqual([
        1,
        expect.arrayContaining([
          'app/plants.ts leaves out operations with an error: getPlant',
          'app/plants.ts has no body where fetch rejects one (GET and HEAD): listPlants, checkPlant',
        ]),
      ]);
      const client = readFileSync(join(folder, 'app/plants.ts'), 'utf8');
      expect(client).toContain('"listPlants": {');
      expect(client).not.toContain('getPlant');
    });
  });
});

test.each([
  [0, 0, undefined],
  [10, 10, undefined],
  [11, 10, 'a.yaml has 1 more notice. "npm run generate -- --all" shows all, with each place.'],
])('firstNotices of %i notices returns %i', (count, limit, last) => {
  const notices = Array.from({ length: count }, (_, index) => `notice ${index}`);
  const expected = [...notices.slice(0, limit), last].filter((line) => line !== undefined);
  expect(firstNotices('a.yaml', notices)).toEqual(expected);
});
