/** What the development loop does with the document, in a process of its own. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type CheckedFile, checkFile } from '../check.ts';
import { lintDocument, withLintMessages } from '../lint.ts';
import { remarks } from '../remarks.ts';
import { generateTypes, TYPES } from '../types.ts';
import { answer } from './background.ts';

const work = { check, places, writeTypes, notices };
export type DocumentWork = typeof work;

let checked: CheckedFile | undefined;

async function check(file: string): Promise<Pick<CheckedFile, 'problems' | 'files'>> {
  checked = await checkFile(file);
  const { problems, files } = checked;
  return { problems: problems.length > 0 ? withLintMessages(problems, await lintDocument(file)) : [], files };
}

/** Where operations stand in the document that was checked last, as `file:line:column`. */
async function places(file: string, operationIds: readonly string[]): Promise<readonly string[]> {
  checked ??= await checkFile(file);
  return checked.places(operationIds);
}

/** Writes the types if they have changed. @returns what prevents it. */
async function writeTypes(file: string): Promise<string> {
  try {
    const types = await generateTypes(file);
    if (existsSync(TYPES) && readFileSync(TYPES, 'utf8') === types) return '';
    mkdirSync(dirname(TYPES), { recursive: true });
    writeFileSync(TYPES, types);
    return '';
  } catch (error) {
    return `${TYPES} is unchanged: ${error instanceof Error ? error.message : error}`;
  }
}

/** What there is to say about the document. @param all whether to show all of it */
async function notices(file: string, all: boolean): Promise<string> {
  checked ??= await checkFile(file);
  const own = checked.notices();
  const lint = await lintDocument(file);
  return remarks(file, own, all ? lint.describe() : lint.count, all).join('\n');
}

answer(work);
