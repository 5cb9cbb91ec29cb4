import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { writeFiles } from 'test-support/files';
import { SAVE_PAUSE_MS, watchSaves } from '../../src/dev/watch.ts';
import { call } from '../call.ts';

let folder: string;
let watching: AbortController;
/** The calls of `onSave`: true for a save of the document. */
let saves: boolean[];
let watchDocument: (...names: string[]) => void;

const write = (name: string, text = 'x') => writeFiles(folder, { [name]: text });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'watch-test-'));
  for (const name of ['src/books', 'schemas']) mkdirSync(join(folder, name), { recursive: true });
  watching = new AbortController();
  saves = [];
  await call(folder, async () => {
    const watch = watchSaves((isDocument) => saves.push(isDocument), watching.signal);
    watchDocument = (...names) => watch(names.map((name) => join(folder, name)));
    return 0;
  });
  watchDocument('openapi.yaml', 'schemas/plant.yaml');
});

afterEach(() => {
  watching.abort();
  rmSync(folder, { recursive: true });
});

async function nextSave(): Promise<boolean[]> {
  await eventually(() => saves.length > 0);
  return saves.splice(0);
}

test.each([
  ['src/main.ts', false],
  ['src/style.css', false],
  ['openapi.yaml', true],
  ['schemas/plant.yaml', true],
])('reports a save of %s once', async (name, isDocument) => {
  write(name);
  write(name, 'second');
  expect(await nextSave()).toEqual([isDocument]);
  write(name, 'third');
  expect(await nextSave()).toEqual([isDocument]);
});

test.each(['src/notes.md', 'openapi.yaml~', 'schemas/other.yaml', 'main.ts'])(
  'ignores %s',
  async (name) => {
    write(name);
    await pause(4 * SAVE_PAUSE_MS);
    expect(saves).toEqual([]);
  },
);

test('reports a save in a new folder of src', async () => {
  mkdirSync(join(folder, 'src/plants/parts'), { recursive: true });
  write('src/plants/parts/list.ts');
  expect(await nextSave()).toEqual([false]);
});

test('reports saves of the document and of src within a moment as one', async () => {
  write('openapi.yaml');
  write('src/main.ts');
  expect(await nextSave()).toEqual([true]);
  write('src/main.ts', 'second');
  expect(await nextSave()).toEqual([false]);
});

test('reports a file that an editor replaces, each time', async () => {
  for (const text of ['first', 'second']) {
    write('openapi.yaml~', text);
    renameSync(join(folder, 'openapi.yaml~'), join(folder, 'openapi.yaml'));
    expect(await nextSave()).toEqual([true]);
  }
});

test('reports the folder of a file that does not exist yet', async () => {
  watchDocument('parts/plants/fern.yaml');
  mkdirSync(join(folder, 'parts'));
  expect(await nextSave()).toEqual([true]);
  watchDocument('parts/plants/fern.yaml');
  write('parts/plants/fern.yaml');
  expect(await nextSave()).toEqual([true]);
});

test('watches only the files of the latest call', async () => {
  watchDocument('schemas/plant.yaml');
  write('openapi.yaml');
  write('src/main.ts');
  expect(await nextSave()).toEqual([false]);
});

test('continues after a folder of the document is removed', async () => {
  rmSync(join(folder, 'schemas'), { recursive: true });
  await nextSave();
  write('openapi.yaml');
  expect(await nextSave()).toEqual([true]);
});
