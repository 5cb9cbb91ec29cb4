import { execFileSync } from 'node:child_process';
import { join, relative } from 'node:path';
import { messageOf } from '../command.ts';

/**
 * Writes the YAML and JSON files of a commit into a folder, and `file` even if it has another type.
 * Uses a separate git index, so the index of the repository does not change.
 *
 * @param file the path of a document, relative to the current folder.
 * @returns the path of the document in the folder, also if it was renamed since. `undefined` if the
 *   commit lacks it.
 * @throws {Error} if git cannot read the commit.
 */
export function checkOut(ref: string, file: string, folder: string): string | undefined {
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
    if (files.split('\0').includes(path)) return join(folder, path);
    // Without this, git would not see a renamed file before it is added.
    git(repository, '', 'add', '--intent-to-add', '--', `:(literal)${path}`);
    const renames = ['--diff-filter=R', '--find-renames=30%', '--name-status', '-z'];
    const pairs = git(repository, '', 'diff', ...renames, `${ref}^{commit}`, '--', ...patterns);
    const names = pairs.split('\0');
    const former = names[names.lastIndexOf(path) - 1];
    return former === undefined ? undefined : join(folder, former);
  } catch (cause) {
    throw new Error(
      `git cannot read "${ref}": name a branch, a tag or a commit, and fetch it first
${messageOf(cause)}`,
      { cause },
    );
  }
}
