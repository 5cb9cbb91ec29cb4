import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { run as command } from '../src/generate.ts';
import { call } from './call.ts';

const TYPES = 'generated/openapi.ts';

/** Runs a test in a folder that holds the files. */
async function inFolder(
  files: Readonly<Record<string, string>>,
  use: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'generate-test-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function run(cwd: string, script: string, ...args: string[]) {
  const { OPENAPI_FILE: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [resolve(script), ...args], {
    cwd,
    env,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

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
  test('writes the same types for a document in several files each time, in whatever folder', async () => {
    const files = { 'openapi.yaml': SMALL, 'schemas/plant.yaml': PLANT };
    await inFolder(files, async (folder) => {
      expect(await generate(folder)).toMatchObject({
        status: 0,
        stderr: '',
        stdout: expect.stringContaining(`${TYPES} written`),
      });
      const types = typesIn(folder);
      expect(types).toMatch(/^\/\*\*\n \* Generated .* by "npm run generate"\. Do not edit/);
      expect(types).toContain('next?: Plant;');
      expect(types).toContain('* @see schemas/plant.yaml:1\n */\nexport type Plant = {');
      expect(types).toContain(
        '    /**\n     * Lists plants.\n     * @see openapi.yaml:7\n     */\n    listPlants: {',
      );
      expect(await generate(folder, '--check')).toMatchObject({ status: 0, stderr: '' });
      await inFolder(files, async (other) => {
        await generate(other);
        expect(typesIn(other)).toBe(types);
      });
    });
  });

  test('prints a link once after an upgrade', async () => {
    await inFolder({ 'openapi.yaml': SMALL, 'schemas/plant.yaml': PLANT }, async (folder) => {
      const line =
        /^spec-first was upgraded from 0\.9\.0 to \d+\.\d+\.\d+\. .*docs\/upgrading\.md$/m;
      const marker = join(folder, 'node_modules/.cache/spec-first/version');
      mkdirSync(join(folder, 'node_modules'));
      expect((await generate(folder)).stdout).not.toContain('upgraded');
      expect(existsSync(marker)).toBe(true);
      writeFileSync(marker, '0.9.0');
      expect((await generate(folder)).stdout).toMatch(line);
      expect((await generate(folder)).stdout).not.toContain('upgraded');
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
    await inFolder({ 'openapi.yaml': broken, 'schemas/plant.yaml': PLANT }, async (folder) => {
      const { stderr } = await generate(folder, '--all');
      expect(stderr).toMatch(/^openapi\.yaml:\d+:\d+ .*summary/m);
      expect(stderr).toMatch(/^openapi\.yaml:19:\d+ .*allOf/m);
      const types = typesIn(folder);
      expect(types).toMatch(/export type Right = \{\s+a\?: string;/);
      expect(types).toContain('listPlants: {');
    });
  });

  test('reports a merge conflict in the document', async () => {
    const conflict = SMALL.replace(
      'security: []',
      '<<<<<<< HEAD\nsecurity: []\n=======\n>>>>>>> other',
    );
    await inFolder({ 'openapi.yaml': conflict, 'schemas/plant.yaml': PLANT }, async (folder) => {
      expect(await generate(folder)).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/^openapi\.yaml:4:1 has a merge conflict \(<{7}\)/),
      });
    });
  });

  test('ignores Windows line endings when it compares files', async () => {
    const windows = SMALL.replaceAll('\n', '\r\n');
    const files = { 'openapi.yaml': windows, 'schemas/plant.yaml': PLANT.replaceAll('\n', '\r\n') };
    await inFolder(files, async (folder) => {
      await generate(folder);
      const types = typesIn(folder);
      writeFileSync(join(folder, TYPES), types.replaceAll('\n', '\r\n'));
      expect(await generate(folder, '--check')).toMatchObject({ status: 0, stderr: '' });
      expect((await generate(folder)).stdout).toContain('fits openapi.yaml');
      writeFileSync(join(folder, 'openapi.yaml'), SMALL);
      writeFileSync(join(folder, 'schemas/plant.yaml'), PLANT);
      await generate(folder, '--check');
      expect((await generate(folder, '--check')).status).toBe(0);
    });
  });

  test('exits with 0 for notices, even with --check, and with 1 with --strict', async () => {
    const undeclared = SMALL.replace('/plants:', "'/plants/{id}':");
    const wrong = PLANT.replace('{ type: string }', '{ type: string, example: 7 }');
    await inFolder({ 'openapi.yaml': undeclared, 'schemas/plant.yaml': wrong }, async (folder) => {
      const { status, stderr } = await generate(folder);
      expect(status).toBe(0);
      expect(stderr).toMatch(/path parameter \w+ is not declared/);
      expect(stderr).toMatch(/the example does not fit its schema/);
      expect(await generate(folder, '--check')).toMatchObject({ status: 0 });
      expect(await generate(folder, '--check', '--strict')).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('openapi.yaml has notices, which --strict rejects.'),
      });
    });
    await inFolder({ 'openapi.yaml': SMALL, 'schemas/plant.yaml': PLANT }, async (folder) => {
      expect(await generate(folder, '--strict')).toMatchObject({ status: 0, stderr: '' });
    });
  });

  test('with --check, names the command that updates the types, and writes nothing', async () => {
    await inFolder({ 'openapi.yaml': SMALL, 'schemas/plant.yaml': PLANT }, async (folder) => {
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
        'is stale: openapi.yaml has changed. Run "npm run generate" and commit the result.',
      );
      expect(typesIn(folder)).toBe(types);
    });
  });

  test('names file, line and column of an error, even in a referenced file, and writes all other types', async () => {
    const files = {
      'openapi.yaml': SMALL.replace('      summary: Lists plants.\n', ''),
      'schemas/plant.yaml': PLANT.replace('type: string', 'type: strnig'),
    };
    await inFolder(files, async (folder) => {
      const { status, stderr } = await generate(folder);
      expect(status).toBe(1);
      expect(stderr).toMatch(
        /^schemas\/plant\.yaml:\d+:\d+ must be equal to one of the allowed values: .* "strnig"/m,
      );
      expect(stderr).toContain('openapi.yaml has 1 error. Operations with an error answer 501.');
      expect(typesIn(folder)).toContain('listPlants');
    });
  });

  test.each([
    [
      'text that is not YAML, and leaves the types unchanged',
      'openapi: 3.1.0\npaths: [\n',
      'openapi.yaml:3:1 ',
      false,
    ],
    ['a reference to a missing file, and writes all other types', SMALL, 'openapi.yaml:15:', true],
  ])('names the place of %s', async (_, text, message, isWritten) => {
    await inFolder({ 'openapi.yaml': text }, async (folder) => {
      expect(await generate(folder)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining(message),
      });
      expect(existsSync(join(folder, TYPES))).toBe(isWritten);
    });
  });

  test('accepts unknown keywords, boolean schemas, any operationId and none', async () => {
    const text = `${HEAD}paths:
  /plants/:
    get:
      operationId: list all
      parameters: [{ name: any, in: query, schema: true }]
      responses: { '200': { description: It., content: { application/json: { schema: { nullable: true, myKeyword: 5 } } } } }
    put:
      operationId: plants#put
      requestBody: { content: { application/json: { schema: true } } }
      responses: { '204': { description: It. } }
    post: { responses: { '204': { description: It. } } }
`;
    await inFolder({ 'openapi.yaml': text }, async (folder) => {
      const { status, stderr } = await generate(folder);
      expect({ status, stderr }).toMatchObject({ status: 0 });
      for (const id of ['"list all"', '"plants#put"', 'postPlants'])
        expect(typesIn(folder)).toContain(`    ${id}: {`);
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
    await inFolder({ 'openapi.yaml': text }, async (folder) => {
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
            `openapi.yaml:24:25 ${wrong} must have required property 'name'`,
            `openapi.yaml:31:48 ${wrong} must be string`,
            'openapi.yaml:32:9 ^\\-?s$ is not a valid regular expression with the flag u: it is read as /^\\-?s$/',
            `openapi.yaml:32:69 ${wrong} must match pattern "^\\-?s$"`,
            '',
          ],
        });
      }
    });
  });

  test('ignores references in examples, and mappings without a target', async () => {
    const content = `application/json:
              schema: { type: object, properties: { example: { $ref: '#/components/schemas/Named' } } }
              examples: { one: { value: { $ref: '#/none' } } }`;
    const text = `${HEAD}paths:
  /plants/:
    get:
      operationId: list
      responses:
        '200':
          description: It.
          content:
            ${content}
components:
  schemas:
    Named: { type: string, example: { $ref: '#/nothing' } }
    Any: { oneOf: [{ $ref: '#/components/schemas/Named' }], discriminator: { propertyName: kind, mapping: { a: models/a.yml } } }
`;
    await inFolder({ 'openapi.yaml': text }, async (folder) => {
      expect(await generate(folder)).toMatchObject({ status: 0 });
      expect(typesIn(folder)).toContain('example?: Named;');
    });
  });

  test('reads files outside the folder of the document only with --allow-outside', async () => {
    const files = {
      'api/openapi.yaml': SMALL.replace('schemas/plant', '../plant'),
      'plant.yaml': PLANT,
    };
    await inFolder(files, async (folder) => {
      const api = join(folder, 'api');
      expect(await generate(api)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('--allow-outside'),
      });
      expect(await generate(api, '--allow-outside')).toMatchObject({ status: 0 });
    });
  });

  test('reads the document that OPENAPI_FILE in .env names, also without paths', async () => {
    const text = HEAD.replace(', identifier: MIT', '');
    await inFolder(
      { 'garden.yaml': `${text}paths: {}\n`, '.env': 'OPENAPI_FILE=garden.yaml\n' },
      async (folder) => {
        expect(await generate(folder)).toMatchObject({ status: 0, stderr: '' });
        expect(typesIn(folder)).toMatch(
          /export interface operations \{\n\}\n[\s\S]*\nexport interface security \{\n\}\n/,
        );
      },
    );
  });

  test('stops if .env cannot be read', async () => {
    await inFolder({ 'openapi.yaml': SMALL, '.env/text': '' }, async (folder) => {
      expect(await generate(folder)).toEqual({
        status: 1,
        stdout: '',
        stderr: '.env cannot be read (EISDIR)\n',
      });
    });
  });

  test('types the default alternative of a discriminator as its schema says', async () => {
    const schemas = `components:
  schemas:
    Cat: { type: object, required: [kind], properties: { kind: { const: cat } } }
    Other: { type: object, properties: { kind: { type: string } } }
    Pet:
      oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Other' }]
      discriminator: { propertyName: kind, defaultMapping: Other }
`;
    const text = SMALL.replace('3.1.0', '3.2.0').replace(
      "{ $ref: 'schemas/plant.yaml#/Plant' }",
      "{ $ref: '#/components/schemas/Pet' }",
    );
    await inFolder({ 'openapi.yaml': text + schemas }, async (folder) => {
      expect(await generate(folder)).toMatchObject({ status: 0 });
      expect(typesIn(folder)).toContain('kind?: string;');
    });
  });

  test('types the files of a form whose schemas contain each other', async () => {
    const form =
      "{ content: { multipart/form-data: { schema: { $ref: '#/components/schemas/Pet' } } } }";
    const text = `${HEAD}security: []
paths:
  /pets:
    post: { operationId: addPet, requestBody: ${form}, responses: { '204': { description: Done. } } }
components:
  schemas:
    Pet: { oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }] }
    Base: { type: object, properties: { photo: { type: string, format: binary }, list: { $ref: '#/components/schemas/List' } } }
    Cat: { allOf: [{ $ref: '#/components/schemas/Base' }] }
    Dog: { allOf: [{ $ref: '#/components/schemas/Base' }, { $ref: '#/components/schemas/Pet' }] }
    List: { type: array, items: { $ref: '#/components/schemas/List' } }
`;
    await inFolder({ 'openapi.yaml': text }, async (folder) => {
      await generate(folder);
      expect(typesIn(folder).match(/photo\?: File;/g)).toHaveLength(2);
    });
  });

  test('with --client, also writes the file of a client, and checks it', async () => {
    await inFolder({ 'openapi.yaml': SMALL, 'schemas/plant.yaml': PLANT }, async (folder) => {
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
        stderr: expect.stringContaining('app/plants.ts is stale'),
      });
    });
  });

  test('exits with 2 for unknown options, and shows the known ones', async () => {
    await inFolder({}, async (folder) => {
      expect(await generate(folder, '--chek')).toMatchObject({
        status: 2,
        stderr: expect.stringContaining("'--chek'"),
      });
      expect((await generate(folder, 'openapi.yaml')).status).toBe(2);
      expect(await generate(folder, '--help')).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('--check'),
      });
    });
  });
});

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

const CLAIMS = `import type { components, defaults, Int64, operations, Plant as Reply, PlantWritable as Request, security, webhooks } from './generated/openapi.ts';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Plant = components['schemas']['Plant'];
type Read = operations['readPlant'];
type Bodies = operations['plants/replace']['requestBody']['content'];
type Named = components['schemas']['Named'];
type Flat<T> = { [K in keyof T]: T[K] };
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
  true satisfies Same<Event, Reply>,
  true satisfies Same<Flat<Named>, { id: number; note?: string }>,
  true satisfies Same<Part, string>,
  true satisfies Same<components['schemas']['title'], string>,
  true satisfies Same<components['schemas']['Odd']['one'], number>,
];

const common = { wide: 1n, safe: 1, half: 1, level: 1, maybe: null, mixed: 1, pair: [1], free: { any: 1 } } as const;
export const reply: Reply = { ...common, pair: [1], born: 'today', next: [{ to: 1 }], a: 'x' };
export const request: Request = { ...common, pair: [1, 'x'], secret: 's', filled: 'x', next: [{}], b: 'x' };
// @ts-expect-error a reply holds what is readOnly
export const unborn: Reply = { ...common, pair: [1], next: [], a: 'x' };
// @ts-expect-error one of the alternatives holds beside the properties
export const neither: Reply = { ...common, pair: [1], born: 'today', next: [] };
export default claims;
`;

describe('the generated types', () => {
  test('have the items of streams, and operations of any method', async () => {
    const items =
      '{ content: { application/jsonl: { itemSchema: { type: object, required: [n], properties: { n: { type: integer } } } } } }';
    const text = `openapi: 3.2.0
info: { title: Garden, version: 1.0.0 }
security: []
paths:
  /plants:
    query: { operationId: search, requestBody: ${items}, responses: { '200': ${items.replace('{', '{ description: All., ')} } }
    additionalOperations: { COPY: { operationId: copy, responses: { '204': { description: Done. } } } }
`;
    await inFolder({ 'openapi.yaml': text }, async (folder) => {
      const { status, stderr } = await generate(folder);
      expect({ status, stderr }).toMatchObject({ status: 0 });
      expect(
        typesIn(folder).match(/"application\/jsonl": AsyncIterable<\{\s+n: number;\s+\}>;/g),
      ).toHaveLength(2);
      expect(typesIn(folder)).toMatch(/^ {4}copy: \{$/m);
    });
  });

  test('describe integers, files, readOnly, writeOnly, defaults, credentials and tuples as the server treats them', async () => {
    const project = {
      extends: resolve('tsconfig.json'),
      compilerOptions: { typeRoots: [resolve('node_modules/@types')], incremental: false },
      include: ['claims.ts', 'generated'],
    };
    const files = {
      'openapi.yaml': EVERYTHING,
      'claims.ts': CLAIMS,
      'package.json': '{ "type": "module" }',
      'tsconfig.json': JSON.stringify(project),
    };
    await inFolder(files, async (folder) => {
      symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
      expect((await generate(folder)).status).toBe(0);
      expect(run(folder, 'node_modules/typescript/bin/tsc', '-p', '.')).toMatchObject({
        status: 0,
        stdout: '',
      });
      expect(typesIn(folder)).not.toMatch(/\$(Read|Write)/);
    });
  });
});
