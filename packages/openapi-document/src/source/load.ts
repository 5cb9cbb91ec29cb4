import { readFileSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { parseJson, stringifyJson } from '../json/exact.ts';
import { bundle } from './bundle.ts';
import { correct } from './correct.ts';
import { asObject, DocumentError, type Finding, isObject, type Json } from './document.ts';
import { describeFindings, mergeFindings, originOf, parseFile, positionReader } from './parse.ts';
import type { FileContent } from './resolver.ts';

/** One tree of the files of a document: each `$ref` points into `root`. */
export interface Source {
  /** The path of the file; empty for a value. */
  readonly file: string;
  readonly root: Json;
  /** The version of OpenAPI in the file. If it is 3.0, `root` is upgraded to 3.1. */
  readonly version: string;
  /** Absolute paths of the files of the document, including missing ones, for tools to watch. */
  readonly files: readonly string[];
  /** The references that cannot be resolved. They are removed from `root`. */
  readonly unresolved: readonly Finding[];
  /** The mistakes that were corrected in `root`, and documentation that cannot be read. */
  readonly corrections: readonly Finding[];
  /** Merges findings with the same message, see `mergeFindings`. */
  merge(findings: readonly Finding[], limit: number): readonly Finding[];
  /** Formats findings as sorted, distinct lines: `file:line:column message`. */
  describe(findings: readonly Finding[]): string;
  /** Returns `file:line:column` of each pointer, or of the nearest enclosing value. */
  positions(pointers: readonly string[]): readonly string[];
}

/**
 * Reads a document and the files that it references.
 *
 * @param document the path of the file, or the value of the document.
 * @throws {DocumentError} if the file cannot be read or is not an OpenAPI document.
 */
export async function loadSource(document: string | object, allowOutside: boolean) {
  const file = typeof document === 'string' ? join(document) : '';
  // Also contains files that cannot be read: tools watch them, too.
  const contents = new Map<string, FileContent>();
  try {
    return await read(file, document, contents, allowOutside);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const reason = error instanceof DocumentError ? message : `${file} cannot be read: ${message}`;
    throw new DocumentError(reason, absolutePaths([file, ...contents.keys()]));
  }
}

const absolutePaths = (files: Iterable<string>): string[] =>
  [...new Set(files)].filter((file) => file !== '').map((file) => resolve(file));

async function read(
  file: string,
  given: string | object,
  contents: Map<string, FileContent>,
  allowOutside: boolean,
): Promise<Source> {
  const source =
    typeof given === 'string'
      ? parseFile(file, readFileSync(file, 'utf8'))
      : parseJson(stringifyJson(given) ?? '');
  if (!isObject(source))
    throw new DocumentError(`${file}:1:1 an OpenAPI document must be an object`);
  contents.set(file, { value: source });
  const bundled = bundle(file, source, (path) => {
    const content = contents.get(path) ?? contentOf(path, file, allowOutside);
    contents.set(path, content);
    return content;
  });
  const { root, corrections } = await correct(file, bundled.root);
  const locationOf = (pointer: string) => originOf(file, root, bundled.origins, pointer);
  const positionsOf = positionReader();
  const positions = (pointers: readonly string[]) => positionsOf(pointers.map(locationOf));
  return {
    file,
    root,
    version: String(source.openapi),
    files: absolutePaths(contents.keys()),
    unresolved: bundled.problems,
    corrections: [...bundled.notices, ...corrections],
    merge: (findings, limit) => mergeFindings(findings, limit, locationOf),
    describe: (findings) => describeFindings(findings, positions),
    positions,
  };
}

/** Checks the folder of the file after resolving symbolic links. */
function contentOf(file: string, document: string, allowOutside: boolean): FileContent {
  try {
    const path = relative(realpathSync(dirname(document)), realpathSync(file));
    if (!allowOutside && (path.split(sep)[0] === '..' || isAbsolute(path))) {
      return {
        reason:
          'it is outside the folder of the document; use --allow-outside (in code: allowOutside)',
      };
    }
    const text = readFileSync(file, 'utf8');
    return { value: parseFile(file, text) };
  } catch (error) {
    if (error instanceof DocumentError) return { reason: error.message };
    const { code } = asObject(error);
    return { reason: FILE_ERRORS[String(code)] ?? String(code ?? error) };
  }
}

const FILE_ERRORS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EISDIR: 'it is a folder, not a file',
  ENOENT: 'the file does not exist',
};
