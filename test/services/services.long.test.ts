import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { faultsIn } from './faults.ts';
import { createNotes, document as notes, TOKENS } from './notes.ts';
import { createItems, documentOf, SHAPES } from './odd.ts';
import { failuresOf } from './run.ts';
import { CREDENTIALS, createShelf, document as shelf } from './shelf.ts';

const folder = mkdtempSync(join(tmpdir(), 'services-'));
afterAll(() => rmSync(folder, { recursive: true }));

function written(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const notesWith = (fault?: string) => ({
  document: written('notes.yaml', notes),
  app: createNotes(fault),
  credentials: TOKENS.ann,
  otherCaller: TOKENS.bob,
});
const shelfWith = (fault?: string) => ({
  document: written('shelf.yaml', shelf),
  app: createShelf(fault),
  credentials: CREDENTIALS,
});

/** Faults that a run may not find, with the reason. docs/testing.md counts them. */
const NOT_FOUND: Readonly<Record<string, string>> = {
  'author filter matches a prefix': 'few authors begin with the same letter',
  'duplicate items are accepted': 'no mistake repeats an item of this list',
  'stored text is trimmed': 'no text of the run has spaces at its ends that the service removes',
  'default limit is 5': 'the list has fewer items',
  'list has notes of other callers': 'the tests create nothing as another caller',
  'next is missing': 'a full page without a cursor may be the last one',
  'deleted notes are listed': 'only the first deleted note is listed',
  'right If-Match is refused': 'a service may refuse a tag that has changed meanwhile',
  'PUT keeps old tags': 'defaults are checked after POST only',
  'DELETE deletes all notes': 'the neighbour is looked for in a list',
  'boolean filter is ignored': 'unknown',
  'bytes are stored as text': 'the bytes of the run are text',
  'repeated PUT is 409': 'the effect is checked, not the status',
};

const faults = [
  ...faultsIn('notes.ts').map((fault) => ['notes', fault, notesWith] as const),
  ...faultsIn('shelf.ts').map((fault) => ['shelf', fault, shelfWith] as const),
];
const found = faults.filter(([, fault]) => NOT_FOUND[fault] === undefined);
test.each(found)('a fault of %s is found: %s', async (_, fault, create) => {
  expect(await failuresOf(create(fault))).not.toEqual([]);
});

test('at most a fifth of at least 60 faults is not found', () => {
  expect(faults.length).toBeGreaterThanOrEqual(60);
  expect(found.length).toBeGreaterThanOrEqual(faults.length * 0.8);
});

test('correct services have no failures', async () => {
  expect(await failuresOf(notesWith())).toEqual([]);
  expect(await failuresOf(shelfWith())).toEqual([]);
});

test.each(Object.entries(SHAPES))('%s has no failures', async (_, shape) => {
  const document = written('items.json', documentOf(shape));
  expect(await failuresOf({ document, app: createItems(shape) })).toEqual([]);
});
