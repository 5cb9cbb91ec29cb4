import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { type Files, withFiles } from 'test-support/files';
import { checkFile } from '../src/check.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: Garden, version: 1.0.0, license: { name: MIT, identifier: MIT } }
servers: [{ url: 'https://garden.test' }]
security: []
paths:
  /plants:
    get:
      operationId: listPlants
      summary: Lists plants.
      responses:
        '200':
          description: Plants.
          content: { application/json: { schema: { $ref: plant.yaml } } }
        '400': { description: No plants. }
`;

const FERN = 'type: string\n';

const line = (place: string, text: string) =>
  expect.stringMatching(new RegExp(`^${place.replaceAll('.', '\\.')} .*${text}`));

type Lines = ReturnType<typeof line>[];

test.each<[title: string, files: Files, isServed: boolean, problems: Lines, notices: Lines]>([
  ['without mistakes', { 'openapi.yaml': DOCUMENT, 'plant.yaml': FERN }, true, [], []],
  [
    'with an example that does not fit',
    { 'openapi.yaml': DOCUMENT, 'plant.yaml': `${FERN}example: 5\n` },
    true,
    [],
    [line('plant.yaml:2:1', 'must be string')],
  ],
  [
    'with an undeclared path parameter',
    { 'openapi.yaml': DOCUMENT.replace('/plants', "'/{id}'"), 'plant.yaml': FERN },
    true,
    [],
    [line('openapi.yaml:7:5', 'parameter id is not declared')],
  ],
  [
    'with a reference to a missing file',
    { 'openapi.yaml': DOCUMENT },
    true,
    [line('openapi.yaml:13:42', 'plant.yaml')],
    [],
  ],
  [
    'with two mistakes in one operation',
    { 'openapi.yaml': DOCUMENT.replace("'400': { description: No plants. }", 'default: 5') },
    true,
    [line('openapi.yaml:13:42', 'plant.yaml'), line('openapi.yaml:14:9', 'must be object')],
    [],
  ],
  [
    'whose paths are not an object',
    { 'openapi.yaml': DOCUMENT.replace(/paths:[\s\S]*/, 'paths: 5') },
    false,
    [line('openapi.yaml:5:1', 'must be object')],
    [],
  ],
  ['that is not YAML', { 'openapi.yaml': 'paths: [' }, false, [line('openapi.yaml:1:9', '')], []],
])(
  'finds the problems and notices of a document %s',
  async (_, files, isServed, problems, notices) => {
    await withFiles(files, async (folder) => {
      const checked = await checkFile(join(folder, 'openapi.yaml'));
      const local = (lines: readonly string[]) =>
        lines.map((text) => text.replace(`${folder}/`, ''));
      expect({
        isServed: checked.document !== undefined,
        problems: local(checked.problems),
        notices: local(checked.notices(true)),
      }).toEqual({ isServed, problems, notices });
    });
  },
);
