import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { asObject, type Document, type Json } from 'openapi-document';
import { messageOf } from '../command.ts';

/**
 * Writes the YAML and JSON files of a commit into a folder, and `file` even if it has another type.
 * Uses a separate git index, so the index of the repository does not change.
 *
 * @param file the path of a document, relative to the current folder.
 * @returns the path of the document in the folder. It does not exist if the commit lacks it.
 * @throws {Error} if git cannot read the commit.
 */
export function checkOut(ref: string, file: string, folder: string): string {
  const env = { ...process.env, GIT_INDEX_FILE: join(folder, '.index') };
  const git = (cwd: string, input: string, ...args: string[]): string =>
    execFileSync('git', args, {
      cwd,
      input,
      env,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      stdio: 'pipe',
    });
  try {
    const folders = git('.', '', 'rev-parse', '--show-toplevel', '--show-prefix');
    const [repository = '', prefix = ''] = folders.split('\n');
    const path = join(prefix, relative('', file));
    git(repository, '', 'read-tree', '--end-of-options', `${ref}^{commit}`);
    const patterns = ['*.yaml', '*.yml', '*.json', `:(literal)${path}`];
    const files = git(repository, '', 'ls-files', '-z', '--', ...patterns);
    git(repository, files, 'checkout-index', '-z', '--stdin', `--prefix=${folder}/`);
    return join(folder, path);
  } catch (cause) {
    throw new Error(
      `git cannot read "${ref}": name a branch, a tag or a commit, and fetch it first
${messageOf(cause)}`,
      { cause },
    );
  }
}

/**
 * Writes a document as one file, without references to other files. oasdiff may follow each `$ref`
 * and each target of a discriminator, even in examples and extensions.
 */
export function writeSelfContained({ root }: Document, file: string): void {
  writeFileSync(file, JSON.stringify(root, omitOtherFiles));
}

/** A replacer for `JSON.stringify` that omits references to other files. */
function omitOtherFiles(this: Json, key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return JSON.rawJSON(String(value));
  if (key === '$ref' && !isLocal(value)) return undefined;
  // A property may be called `mapping`, too.
  if (key !== 'mapping' || !('propertyName' in this)) return value;
  return Object.fromEntries(Object.entries(asObject(value)).filter(([, to]) => isLocal(to)));
}

const isLocal = (reference: unknown): boolean =>
  typeof reference !== 'string' || reference.startsWith('#');
