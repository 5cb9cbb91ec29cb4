import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { writeTypes } from '../../src/dev/write-types.ts';
import { call } from '../call.ts';
import { type Files, inFolder } from '../folder.ts';

const TYPES = 'generated/openapi.ts';

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
        '200': { description: It., content: { application/json: { schema: { $ref: plant.yaml } } } }
        '400': { description: No plants. }
`;

const FERN = 'type: string\n';

async function writeIn(folder: string, allowOutside = false) {
  const { stdout } = await call(folder, async () => {
    console.log(JSON.stringify(await writeTypes('openapi.yaml', allowOutside)));
    return 0;
  });
  return JSON.parse(stdout.replaceAll(`${folder}/`, ''));
}

const FILES = ['openapi.yaml', 'plant.yaml'];

test.each<[title: string, files: Files, text: string | RegExp, isWritten: boolean]>([
  ['without mistakes', { 'openapi.yaml': DOCUMENT, 'plant.yaml': FERN }, '', true],
  [
    'with an error and a notice',
    { 'openapi.yaml': DOCUMENT.replace('/plants', "'/{id}'") },
    /^openapi\.yaml:11:\d+ .* plant\.yaml .*\nopenapi\.yaml:7:5 .* id is not declared.*$/,
    true,
  ],
  [
    'whose types cannot be written',
    { 'openapi.yaml': DOCUMENT, 'plant.yaml': FERN, generated: '' },
    /^generated\/openapi\.ts is not written: E/,
    false,
  ],
])('returns the files and the messages of a document %s', async (_, files, text, isWritten) => {
  await inFolder(files, async (folder) => {
    expect(await writeIn(folder)).toEqual({
      files: FILES,
      text: typeof text === 'string' ? text : expect.stringMatching(text),
    });
    expect(existsSync(join(folder, TYPES))).toBe(isWritten);
  });
});

test('writes no types for a document that cannot be served, and leaves the errors to the server', async () => {
  await inFolder({ 'openapi.yaml': 'paths: 5' }, async (folder) => {
    expect(await writeIn(folder)).toEqual({ files: ['openapi.yaml'], text: '' });
    expect(existsSync(join(folder, TYPES))).toBe(false);
  });
});
