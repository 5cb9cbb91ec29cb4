import { readFileSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { parseJson, stringifyJson } from '../json/exact.ts';
import { bundle } from '../source/bundle.ts';
import { correct } from '../source/correct.ts';
import { asObject, DocumentError, type Finding, isObject, resolveRef } from '../source/document.ts';
import {
  describeFindings,
  mergeFindings,
  originOf,
  parseFile,
  positionsOf,
  readPositions,
} from '../source/parse.ts';
import type { FileContent } from '../source/resolver.ts';
import { operationsOf, webhooksOf } from './operations.ts';
import { basePathsOf } from './servers.ts';

/** An OpenAPI document. Each `$ref` points into `root`, even if there are several files. */
export interface Document extends Awaited<ReturnType<typeof read>> {}

/** The path of a document, its value, such as an imported JSON module, or a loaded document. */
export type DocumentSource = string | (object & { readonly openapi: string }) | Document;

/**
 * Reads a document and the files that it references. The files of a value are relative to the
 * working directory. A loaded document is returned unchanged. Referenced parts of other files
 * become components, named after their file or their location in it. Nothing is fetched.
 *
 * @param options.allowOutside true to read referenced files outside the folder of the document.
 * @throws {DocumentError} if the file cannot be read or is not an OpenAPI document.
 */
export async function loadDocument(
  source: DocumentSource,
  { allowOutside = false }: { readonly allowOutside?: boolean | undefined } = {},
): Promise<Document> {
  if (typeof source === 'object' && !('openapi' in source)) return source;
  const file = typeof source === 'string' ? join(source) : '';
  // Also contains files that cannot be read: tools watch them, too.
  const contents = new Map<string, FileContent>();
  try {
    return await read(file, source, contents, allowOutside);
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
) {
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
  const operations = operationsOf(root);
  const schemes = Object.entries(asObject(asObject(root.components).securitySchemes));
  const locationOf = (pointer: string) => originOf(file, root, bundled.origins, pointer);
  const positions = (pointers: readonly string[], reader = readPositions()) =>
    positionsOf(pointers.map(locationOf), reader);
  const describe = (findings: readonly Finding[], reader = readPositions()) =>
    describeFindings(findings, (pointers) => positions(pointers, reader));
  return {
    /** The path of the file; empty for a value. */
    file,
    root,
    /** The version of OpenAPI in the file. If it is 3.0, `root` is upgraded to 3.1. */
    version: String(source.openapi),
    /** Absolute paths of the files of the document, including missing ones, for tools to watch. */
    files: absolutePaths(contents.keys()),
    operations,
    /**
     * The requests that the service sends: webhooks and callbacks. The path of a webhook is its
     * name. The path of a callback is `operationId.name`. Only the first URL of a callback is read.
     */
    webhooks: webhooksOf(root, operations),
    /** The base paths of operations without servers of their own. */
    basePaths: basePathsOf(root.servers),
    /** The Security Scheme Objects by name, with references resolved. */
    securitySchemes: Object.fromEntries(
      schemes.map(([name, value]) => [name, resolveRef(root, value) ?? {}]),
    ),
    /** The references that cannot be resolved. They are removed from `root`. */
    unresolved: bundled.problems,
    /** The mistakes that were corrected in `root`, and documentation that cannot be read. */
    corrections: [...bundled.notices, ...corrections],
    /** Merges findings with the same message, see `mergeFindings`. */
    merge: (findings: readonly Finding[], limit: number) =>
      mergeFindings(findings, limit, locationOf),
    /** Formats findings as sorted, distinct lines: `file:line:column message`. */
    describe: (findings: readonly Finding[]) => describe(findings),
    /** Formats groups of findings. Reads each file once. */
    describeEach<Key>(groups: ReadonlyMap<Key, readonly Finding[]>): ReadonlyMap<Key, string> {
      const reader = readPositions();
      return new Map([...groups].map(([key, findings]) => [key, describe(findings, reader)]));
    },
    /** Returns `file:line:column` of each pointer, or of the nearest enclosing value. */
    positions: (pointers: readonly string[]) => positions(pointers),
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
