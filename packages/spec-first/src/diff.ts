import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { type Document, describeFindings } from 'spec-first-server/internal/document/document';
import { loadDocument } from 'spec-first-server/internal/document/load';
import { loadEnvFile } from 'spec-first-server/internal/process/env-file';
import { type Change, compareContracts } from './contract-diff.ts';

const USAGE = `npm run diff -- <git-ref>

Shows what changed in the OpenAPI document since a commit, a branch or a tag, and which changes break clients.
Exits with 1 if one does, with 2 if the documents cannot be compared.

  --help    show this

The document is openapi.yaml, or what OPENAPI_FILE names.`;

export async function run(args: readonly string[]): Promise<number> {
  let ref: string | undefined;
  try {
    const options = { help: { type: 'boolean' } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.help) {
      console.log(USAGE);
      return 0;
    }
    ref = positionals[0];
    if (ref === undefined || positionals.length > 1) throw new Error('One git reference is expected, such as "main"');
  } catch (error) {
    console.error(`${messageOf(error)}\n\n${USAGE}`);
    return 2;
  }

  const folder = mkdtempSync(join(tmpdir(), 'contract-'));
  try {
    loadEnvFile();
    const file = process.env.OPENAPI_FILE || 'openapi.yaml';
    const older = checkOut(ref, file, folder);
    if (!existsSync(older)) {
      console.log(`${file} is new since ${ref}: no client can depend on it`);
      return 0;
    }
    const newer = await loadDocument(file);
    return report(compareContracts(await loadDocument(older), newer), newer, ref);
  } catch (error) {
    console.error(messageOf(error).replaceAll(`${folder}/tree/`, `${ref}:`));
    return 2;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes all YAML and JSON files of a commit into a folder, leaving index and working tree alone; gives `file`'s path. */
function checkOut(ref: string, file: string, folder: string): string {
  const git = (args: string[], cwd?: string, input = ''): string =>
    execFileSync('git', args, {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      input,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, GIT_INDEX_FILE: join(folder, 'index') },
      ...(cwd === undefined ? {} : { cwd }),
    });
  let top: string;
  let inside: string;
  try {
    [top = '', inside = ''] = git(['rev-parse', '--show-toplevel', '--show-prefix']).split('\n');
  } catch (error) {
    throw new Error(`git finds no repository here: ${messageOf(error)}`);
  }
  let commit: string;
  try {
    commit = git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`]).trim();
  } catch {
    throw new Error(`git knows no commit "${ref}": a branch, a tag or a commit is expected (fetch it first)`);
  }
  const path = join(inside, relative('', file));
  const tree = join(folder, 'tree');
  git(['read-tree', commit], top);
  const files = git(['ls-files', '-z', '--', '*.yaml', '*.yml', '*.json', `:(literal)${path}`], top);
  git(['checkout-index', '-z', '--stdin', `--prefix=${tree}/`], top, files);
  return join(tree, path);
}

function report(changes: readonly Change[], newer: Document, ref: string): number {
  const { file } = newer;
  const places = describeFindings(
    newer,
    changes.map(({ pointer }) => ({ pointer, message: '' })),
  ).split('\n');
  for (const [index, { breaking, where, what }] of changes.entries()) {
    const [first, ...others] = where;
    const operations = others.length > 0 ? `${first} and ${others.length} more` : first;
    const mark = breaking ? styleText('red', 'breaking  ') : styleText('green', 'compatible');
    console.log(`${mark}  ${operations}  ${what}  ${places[index]?.trim()}`);
  }
  const count = changes.filter(({ breaking }) => breaking).length;
  if (changes.length === 0) console.log(`${file} has not changed for clients since ${ref}`);
  else if (count === 0) console.log(`No client breaks: ${changes.length} compatible since ${ref}`);
  else console.log(`Clients break: ${count} of ${changes.length} changes since ${ref} are breaking`);
  return count > 0 ? 1 : 0;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
