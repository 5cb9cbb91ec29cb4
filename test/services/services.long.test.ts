import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { TOKENS as BANK_TOKENS, document as bank, createBank } from './bank.ts';
import { TOKENS as CLUB_TOKENS, document as club, createClub } from './club.ts';
import { createDesk, document as desk } from './desk.ts';
import { faultsIn, habitsIn } from './faults.ts';
import { createNotes, document as notes, TOKENS } from './notes.ts';
import { createItems, documentOf, SHAPES } from './odd.ts';
import { failuresOf } from './run.ts';
import { CREDENTIALS, createShelf, document as shelf } from './shelf.ts';
import { createStudio, TOKENS as STUDIO_TOKENS, document as studio } from './studio.ts';

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
const deskWith = (fault?: string) => ({
  document: written('desk.json', desk),
  app: createDesk(fault),
});
const bankWith = (fault?: string) => ({
  document: written('bank.json', bank),
  app: createBank(fault),
  credentials: BANK_TOKENS.ann,
  otherCaller: BANK_TOKENS.bob,
});

const clubWith = (fault?: string) => ({
  document: written('club.json', club),
  app: createClub(fault),
  credentials: CLUB_TOKENS.ann,
  otherCaller: CLUB_TOKENS.bob,
});

const studioWith = (fault?: string) => ({
  document: written('studio.json', studio),
  app: createStudio(fault),
  credentials: STUDIO_TOKENS.ann,
  otherCaller: STUDIO_TOKENS.bob,
});

const faults = [
  ...faultsIn('notes.ts').map((fault) => ['notes', fault, notesWith] as const),
  ...faultsIn('shelf.ts').map((fault) => ['shelf', fault, shelfWith] as const),
  ...faultsIn('desk.ts').map((fault) => ['desk', fault, deskWith] as const),
  ...faultsIn('bank.ts').map((fault) => ['bank', fault, bankWith] as const),
  ...faultsIn('club.ts').map((fault) => ['club', fault, clubWith] as const),
  ...faultsIn('studio.ts').map((fault) => ['studio', fault, studioWith] as const),
];
const missed: string[] = [];
test.each(faults)('a fault of %s is looked for: %s', async (_, fault, create) => {
  if ((await failuresOf(create(fault), 1)).length === 0) missed.push(fault);
});

test('95 % of at least 150 faults are found', () => {
  expect(faults.length).toBeGreaterThanOrEqual(150);
  expect(missed.slice(Math.floor(faults.length * 0.05))).toEqual([]);
});

test('correct services have no failures', async () => {
  expect(await failuresOf(notesWith())).toEqual([]);
  expect(await failuresOf(shelfWith())).toEqual([]);
  expect(await failuresOf(deskWith())).toEqual([]);
  expect(await failuresOf(bankWith())).toEqual([]);
  expect(await failuresOf(clubWith())).toEqual([]);
  expect(await failuresOf(studioWith())).toEqual([]);
});

test.each(habitsIn('bank.ts'))('a correct bank has no failures if %s', async (habit) => {
  expect(await failuresOf(bankWith(habit))).toEqual([]);
});

test.each(habitsIn('desk.ts'))('a correct desk has no failures if %s', async (habit) => {
  expect(await failuresOf(deskWith(habit))).toEqual([]);
});

test.each(habitsIn('club.ts'))('a correct club has no failures if %s', async (habit) => {
  expect(await failuresOf(clubWith(habit))).toEqual([]);
});

test.each(Object.entries(SHAPES))('%s has no failures', async (_, shape) => {
  const document = written('items.json', documentOf(shape));
  expect(await failuresOf({ document, app: createItems(shape) })).toEqual([]);
});
