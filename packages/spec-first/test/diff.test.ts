import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { isObject } from 'spec-first-server/internal/document/document';
import { parse } from 'yaml';
import { compareContracts } from '../src/contract-diff.ts';

const BASE = `
openapi: 3.1.0
info: { title: Garden, version: 1.0.0 }
servers:
  - url: https://garden.test/v1
security:
  - token: [read]
paths:
  /beds/{bed}/plants:
    parameters:
      - { name: bed, in: path, required: true, schema: { type: integer } }
    get:
      operationId: listPlants
      parameters:
        - { name: limit, in: query, schema: { type: integer, minimum: 1, maximum: 100 } }
        - { name: X-Trace, in: header, schema: { type: string } }
      responses:
        '200':
          description: Plants.
          headers:
            X-Total: { required: true, schema: { type: integer } }
          content:
            application/json: { schema: { type: array, items: { $ref: '#/components/schemas/Plant' } } }
            text/csv: { schema: { type: string } }
        '404': { description: No bed. }
        default: { description: A failure. }
    post:
      operationId: addPlant
      requestBody:
        content:
          application/json: { schema: { $ref: '#/components/schemas/NewPlant' } }
      responses:
        '200': { description: The plant., content: { application/json: { schema: { $ref: '#/components/schemas/Plant' } } } }
        default: { description: A failure. }
components:
  securitySchemes:
    token: { type: http, scheme: bearer }
    key: { type: apiKey, in: header, name: X-Key }
  schemas:
    Plant:
      type: object
      required: [name]
      properties:
        name: { type: string, maxLength: 50 }
        tag: { type: [string, 'null'] }
        kind: { enum: [tree, herb] }
        height: { type: number, exclusiveMinimum: 0 }
        id: { type: integer, readOnly: true }
        secret: { type: string, writeOnly: true }
        parent: { $ref: '#/components/schemas/Plant' }
        care: { oneOf: [{ $ref: '#/components/schemas/Water' }, { $ref: '#/components/schemas/Light' }], discriminator: { propertyName: by } }
    NewPlant:
      allOf:
        - $ref: '#/components/schemas/Plant'
        - { type: object, required: [code], properties: { code: { type: integer, format: int32 } } }
    Water: { type: object, properties: { by: { type: string }, litres: { type: number } } }
    Light: { type: object, properties: { by: { type: string }, hours: { type: number } } }
`;

/** Replaces text of the document, each in its first place, and compares. Breaking changes are marked with "!". */
function changes(...replacements: [from: string, to: string][]): string[] {
  let text = BASE;
  for (const [from, to] of replacements) {
    if (!text.includes(from)) throw new Error(`the document does not hold ${from}`);
    text = text.replace(from, to);
  }
  const [before, after] = [BASE, text].map((source) => {
    const root: unknown = parse(source);
    if (!isObject(root)) throw new Error('the document is no object');
    return { file: 'openapi.yaml', root };
  });
  if (before === undefined || after === undefined) throw new Error('there are two documents');
  return compareContracts(before, after).map(
    ({ breaking, where, what }) => `${breaking ? '!' : ' '} ${where.join(' + ')} ${what}`,
  );
}

const GET = 'GET /beds/{bed}/plants';
const POST = 'POST /beds/{bed}/plants';

describe('what breaks clients', () => {
  test.each<[title: string, replacements: [string, string][], expected: string[]]>([
    ['nothing, when nothing changed', [], []],
    [
      'nothing, when only words and names change',
      [
        ['title: Garden', 'title: The garden'],
        ['description: Plants.', 'description: All plants.'],
        ['beds/{bed}/plants', 'beds/{bedId}/plants'],
        ['name: bed,', 'name: bedId,'],
        ["type: [string, 'null']", "type: ['null', string]"],
        ['tree, herb', 'herb, tree'],
      ],
      [],
    ],
    [
      'nothing, when a schema moves behind a reference, into allOf or into alternatives that mean the same',
      [
        ["tag: { type: [string, 'null'] }", "tag: { anyOf: [{ type: string }, { type: 'null' }] }"],
        [
          'name: { type: string, maxLength: 50 }',
          "name: { allOf: [{ type: string }, { $ref: '#/components/schemas/Short' }] }",
        ],
        ['kind: { enum: [tree, herb] }', 'kind: { type: string, oneOf: [{ const: tree }, { const: herb }] }'],
        ['    Water:', '    Short: { maxLength: 50 }\n    Water:'],
      ],
      [],
    ],
    [
      'a path that is gone',
      [['/beds/{bed}/plants:', '/rows/{bed}/plants:']],
      [
        `! ${GET} the operation is gone`,
        `! ${POST} the operation is gone`,
        '  GET /rows/{bed}/plants the operation is new',
        '  POST /rows/{bed}/plants the operation is new',
      ],
    ],
    [
      'a server that is gone',
      [['garden.test/v1', 'garden.test/v2']],
      ['! servers https://garden.test/v1 is gone', '  servers https://garden.test/v2 is new'],
    ],
    [
      'not a new name of an operation',
      [['listPlants', 'plants']],
      [`  ${GET} operationId is now plants, was listPlants`],
    ],

    [
      'a new required parameter',
      [['name: X-Trace, in: header,', 'name: X-Trace, in: header, required: true,']],
      [`! ${GET} header parameter "X-Trace" is now required`],
    ],
    [
      'a query parameter that is gone',
      [['- { name: limit, in: query, schema: { type: integer, minimum: 1, maximum: 100 } }', '']],
      [`! ${GET} query parameter "limit" is gone`],
    ],
    [
      'not a header parameter that is gone',
      [['- { name: X-Trace, in: header, schema: { type: string } }', '']],
      [`  ${GET} header parameter "X-Trace" is gone`],
    ],
    [
      'tighter bounds of a parameter, not looser ones',
      [['minimum: 1, maximum: 100', 'minimum: 0, maximum: 50']],
      [
        `! ${GET} query parameter "limit": maximum is now 50, was 100`,
        `  ${GET} query parameter "limit": minimum is now 0, was 1`,
      ],
    ],
    [
      'another style of a parameter',
      [['name: bed, in: path', 'name: bed, style: label, in: path']],
      [`! ${GET} + ${POST} path parameter "bed" is now written as label, was simple`],
    ],

    [
      'a body that is now required',
      [['      requestBody:\n', '      requestBody:\n        required: true\n']],
      [`! ${POST} request body is now required`],
    ],
    [
      'a media type that is gone, in a request',
      [
        [
          "application/json: { schema: { $ref: '#/components/schemas/NewPlant' } }",
          'text/plain: { schema: { type: string } }',
        ],
      ],
      [`! ${POST} request body: application/json is gone`, `  ${POST} request body: text/plain is new`],
    ],
    [
      'not a media type range that covers the old type',
      [['text/csv: {', 'text/*: {']],
      [`  ${GET} response 200: text/* is new`],
    ],
    [
      'a new required property behind allOf',
      [['required: [code]', 'required: [code, tag]']],
      [`! ${POST} request body: property "tag" is now required`],
    ],
    [
      'a property that is new and required, in requests only',
      [
        [
          'required: [name]\n      properties:',
          'required: [name, row]\n      properties:\n        row: { type: string }',
        ],
      ],
      [
        `! ${POST} request body: property "row" is new and required`,
        `  ${GET} + ${POST} response 200 (application/json): "[]" property "row" is new and required`,
      ],
    ],
    [
      'not a new optional property',
      [['properties: { code:', 'properties: { row: { type: string }, code:']],
      [`  ${POST} request body: property "row" is new`],
    ],
    [
      'an object that is now closed, in a request',
      [['required: [code],', 'unevaluatedProperties: false, required: [code],']],
      [`! ${POST} request body: properties of other names are no longer allowed`],
    ],
    [
      'a narrower format, in a request',
      [['type: integer, format: int32', 'type: integer, format: int32, multipleOf: 2']],
      [`! ${POST} request body: "code" multipleOf is now 2, was none`],
    ],
    [
      'not a wider format, in a request',
      [['format: int32', 'format: int64']],
      [`  ${POST} request body: "code" format is now int64, was int32`],
    ],
    [
      'a property that becomes read-only, in a request',
      [['name: { type: string, maxLength: 50 }', 'name: { type: string, maxLength: 50, readOnly: true }']],
      [`! ${POST} request body: "name" is no longer allowed`],
    ],

    [
      'a response property that is gone',
      [["tag: { type: [string, 'null'] }", '']],
      [
        `! ${GET} + ${POST} response 200 (application/json): "[]" property "tag" is gone`,
        `  ${POST} request body: property "tag" is gone`,
      ],
    ],
    [
      'a response property that is no longer required',
      [['required: [name]', 'required: []']],
      [
        `! ${GET} + ${POST} response 200 (application/json): "[]" property "name" is no longer required`,
        `  ${POST} request body: property "name" is no longer required`,
      ],
    ],
    [
      'a type that is wider in responses',
      [["type: [string, 'null']", "type: [string, 'null', integer]"]],
      [
        `! ${GET} + ${POST} response 200 (application/json): "[].tag" can now be integer`,
        `  ${POST} request body: "tag" can now be integer`,
      ],
    ],
    [
      'a type that is narrower in requests',
      [["type: [string, 'null']", 'type: string']],
      [
        `! ${POST} request body: "tag" can no longer be null`,
        `  ${GET} + ${POST} response 200 (application/json): "[].tag" can no longer be null`,
      ],
    ],
    [
      'a value that is new in responses',
      [['tree, herb', 'tree, herb, moss']],
      [
        `! ${GET} + ${POST} response 200 (application/json): "[].kind" can now be "moss"`,
        `  ${POST} request body: "kind" can now be "moss"`,
      ],
    ],
    [
      'bounds: tighter in requests, looser in responses',
      [['exclusiveMinimum: 0', 'minimum: 0']],
      [
        `! ${GET} + ${POST} response 200 (application/json): "[].height" minimum is now 0, was 0 (exclusive)`,
        `  ${POST} request body: "height" minimum is now 0, was 0 (exclusive)`,
      ],
    ],
    [
      'an alternative that is gone, in requests',
      [[", { $ref: '#/components/schemas/Light' }]", ']']],
      [
        `! ${POST} request body: "care.by" can no longer be "Light"`,
        `  ${GET} + ${POST} response 200 (application/json): "[].care.by" can no longer be "Light"`,
      ],
    ],
    [
      'another value of a discriminator',
      [['propertyName: by }', 'propertyName: by, mapping: { rain: Water } }']],
      [
        `! ${GET} + ${POST} response 200 (application/json): "[].care.by" can now be "rain"`,
        `! ${POST} request body: "care.by" can no longer be "Water"`,
        `  ${GET} + ${POST} response 200 (application/json): "[].care.by" can no longer be "Water"`,
        `  ${POST} request body: "care.by" can now be "rain"`,
      ],
    ],

    [
      'a success that is gone, not a failure that the default covers',
      [
        ["'200': { description: The plant.,", "'201': { description: The plant.,"],
        ["'404': { description: No bed. }", ''],
      ],
      [`! ${POST} response 200 is gone`, `! ${POST} response 201 is new`],
    ],
    [
      'a response media type that is gone',
      [['text/csv: { schema: { type: string } }', '']],
      [`! ${GET} response 200: text/csv is gone`],
    ],
    [
      'a response header that is gone',
      [['X-Total: { required: true, schema: { type: integer } }', 'X-Sum: { schema: { type: integer } }']],
      [`! ${GET} response 200: header "x-total" is gone`, `  ${GET} response 200: header "x-sum" is new`],
    ],

    [
      'credentials that are no longer enough',
      [['- token: [read]', '- key: []']],
      [
        `! ${GET} + ${POST} security: token (read) is no longer enough, key is`,
        `  ${GET} + ${POST} security: key is now enough`,
      ],
    ],
    [
      'a scope more',
      [['token: [read]', 'token: [read, write]']],
      [`! ${GET} + ${POST} security: token (read) is no longer enough, token (read, write) is`],
    ],
    [
      'another way to send a credential',
      [['scheme: bearer', 'scheme: basic']],
      [
        `! ${GET} + ${POST} security: token (read) is no longer enough, token (read) is`,
        `  ${GET} + ${POST} security: token (read) is now enough`,
      ],
    ],
    [
      'not credentials that are no longer needed',
      [['operationId: listPlants', 'operationId: listPlants\n      security: []']],
      [`  ${GET} security: no credentials is now enough`],
    ],
    [
      'not another name of a scheme',
      [
        ['- token: [read]', '- bearer: [read]'],
        ['token: { type: http', 'bearer: { type: http'],
      ],
      [],
    ],
  ])('%s', (_, replacements, expected) => {
    expect(changes(...replacements)).toEqual(expected);
  });
});

describe('npm run diff', () => {
  const diff = (cwd: string, ...args: string[]) => {
    const { NO_COLOR: _, OPENAPI_FILE: __, ...env } = process.env;
    const script = resolve('scripts/diff.ts');
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { cwd, env, encoding: 'utf8' });
    return { status, stdout, stderr };
  };
  const inRepository = (use: (folder: string) => void) => {
    const folder = mkdtempSync(join(tmpdir(), 'diff-test-'));
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@test.test', ...args], { cwd: folder });
    try {
      git('init', '-q', '-b', 'main');
      mkdirSync(join(folder, 'schemas'));
      writeFileSync(
        join(folder, 'openapi.yaml'),
        BASE.replaceAll("'#/components/schemas/NewPlant'", 'schemas/new.yaml'),
      );
      writeFileSync(join(folder, 'schemas/new.yaml'), 'type: object\nproperties:\n  code:\n    type: integer\n');
      git('add', '.');
      git('commit', '-q', '-m', 'first');
      use(folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  test('names the place of a breaking change in a referenced file, exits with 1 and leaves the repository alone', () => {
    inRepository((folder) => {
      expect(diff(folder, 'main')).toMatchObject({
        status: 0,
        stdout: 'openapi.yaml has not changed for clients since main\n',
      });
      writeFileSync(join(folder, 'schemas/new.yaml'), 'type: object\nproperties:\n  code:\n    type: string\n');
      const { status, stdout, stderr } = diff(folder, 'main');
      expect(stderr).toBe('');
      expect(stdout).toMatch(
        /^breaking {4}POST \/beds\/\{bed\}\/plants {2}request body: "code" is now string, was integer {2}\S*schemas\/new\.yaml:4:5$/m,
      );
      expect(status).toBe(1);
      const state = execFileSync('git', ['status', '--porcelain'], { cwd: folder, encoding: 'utf8' });
      expect(state).toBe(' M schemas/new.yaml\n');
      expect(readdirSync(folder).sort()).toEqual(['.git', 'openapi.yaml', 'schemas']);
    });
  });

  test('exits with 0 for a compatible change and for a document that is new', () => {
    inRepository((folder) => {
      writeFileSync(join(folder, 'schemas/new.yaml'), 'type: object\nproperties:\n  code:\n    type: number\n');
      expect(diff(folder, 'HEAD')).toMatchObject({ status: 0, stdout: expect.stringContaining('compatible  POST') });
      execFileSync('git', ['mv', 'openapi.yaml', 'schemas/openapi.yaml'], { cwd: folder });
      expect(diff(join(folder, 'schemas'), 'HEAD').stdout).toBe(
        'openapi.yaml is new since HEAD: no client can depend on it\n',
      );
    });
  });

  test('exits with 2 for an unknown reference, a wrong flag, a document or a .env that cannot be read', () => {
    inRepository((folder) => {
      expect(diff(folder, 'nowhere')).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('no commit "nowhere"'),
      });
      expect(diff(folder)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('One git reference is expected'),
      });
      expect(diff(folder, 'main', '--fast')).toMatchObject({ status: 2, stderr: expect.stringContaining("'--fast'") });
      writeFileSync(join(folder, 'openapi.yaml'), 'paths: [');
      expect(diff(folder, 'main')).toMatchObject({
        status: 2,
        stderr: expect.stringMatching(/^openapi\.yaml:1:9 /),
      });
      mkdirSync(join(folder, '.env'));
      expect(diff(folder, 'main')).toEqual({ status: 2, stdout: '', stderr: '.env cannot be read (EISDIR)\n' });
    });
  });
});
