import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';

/** A file as a commit holds it, in a folder with the files that it may reference. */
export interface OlderVersion {
  /** The path of the file in the folder; `undefined` where the commit has no such file. */
  readonly file: string | undefined;
  /** The folder that holds the commit's files. */
  readonly tree: string;
}

/**
 * Writes the YAML and JSON files of a commit into a folder. Leaves the index and the working tree alone. A file that was
 * renamed since the commit is found under its former name.
 *
 * @throws {Error} if there is no git repository or no such commit.
 */
export function olderVersion(ref: string, file: string, folder: string): OlderVersion {
  const git = (args: string[], cwd?: string, input = ''): string =>
    execFileSync('git', args, {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      input,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, GIT_INDEX_FILE: join(folder, 'index') },
      ...(cwd === undefined ? {} : { cwd }),
    });
  const or = (message: string, ...args: string[]): string[] => {
    try {
      return git(args).split('\n');
    } catch (cause) {
      throw new Error(message, { cause });
    }
  };
  const [top = '', inside = ''] = or('git finds no repository here', 'rev-parse', '--show-toplevel', '--show-prefix');
  const unknown = `git knows no commit "${ref}": a branch, a tag or a commit is expected (fetch it first)`;
  const [commit = ''] = or(unknown, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`);
  const path = join(inside, relative('', file));
  const tree = join(folder, 'tree');
  const documents = ['*.yaml', '*.yml', '*.json', `:(literal)${path}`];
  git(['read-tree', commit], top);
  git(['checkout-index', '-z', '--stdin', `--prefix=${tree}/`], top, git(['ls-files', '-z', '--', ...documents], top));
  if (existsSync(join(tree, path))) return { file: join(tree, path), tree };

  // The file is new in the index of this comparison, so that git can pair it with a file that is gone.
  git(['add', '--force', '--intent-to-add', '--', `:(literal)${path}`], top);
  const renames = git(
    ['diff', '-z', '--name-status', '--find-renames', '--diff-filter=R', commit, '--', ...documents],
    top,
  );
  const fields = renames.split('\0');
  const at = fields.indexOf(path);
  const former = at > 0 ? fields[at - 1] : undefined;
  return { file: former === undefined ? undefined : join(tree, former), tree };
}
