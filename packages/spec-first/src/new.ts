import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { command, UsageError } from './command.ts';
import { projectFiles } from './project.ts';

const USAGE = `Usage: spec-first new DIR [DOCUMENT]

Makes a project in DIR that serves an OpenAPI document: its types, an empty file of handlers, a test, a Dockerfile.
Without DOCUMENT it serves a small library of books.
DIR must be empty or missing: nothing is overwritten.

  --help   show this`;

/** Makes a project for a document. Resolves to the exit code. */
export const run = command(USAGE, {}, 2, async (_values, [folder, document]) => {
  if (folder === undefined) throw new UsageError('A folder is expected, and a document or none');
  checkEmpty(folder);
  console.log(document === undefined ? 'Making a library of books …' : `Reading ${document}, and writing its types …`);
  const files = await projectFiles(folder, document);
  for (const [path, content] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content, { flag: 'wx' });
  }
  console.log(`${files.size} files written to ${folder}. Go on with:

  cd ${folder}
  npm install
  npm start`);
  return 0;
});

/** @throws {Error} if a folder holds more than a git repository. */
function checkEmpty(folder: string): void {
  if (!existsSync(folder)) return;
  const names = readdirSync(folder).filter((name) => name !== '.git');
  if (names.length === 0) return;
  const shown = names.slice(0, 3).join(', ') + (names.length > 3 ? ', …' : '');
  throw new Error(`${folder} is not empty (${shown}). Name an empty or a new folder: nothing is overwritten.`);
}
