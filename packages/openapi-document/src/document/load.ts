import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { bundle, Unreadable } from './bundle.ts';
import { asObject, type Document, DocumentError, type Finding, isObject } from './document.ts';
import { parseFile } from './parse.ts';
import { describeFindings, positionsOf } from './positions.ts';
import { externalReferences, relativizeReferences, targetOf } from './references.ts';
import { toOpenApi31 } from './versions.ts';

export interface LoadOptions {
  /** Whether references may lead to files outside the folder of the document. By default they must not. */
  readonly allowOutside?: boolean | undefined;
}

/**
 * Reads a document and the files that it references. What another file holds becomes a component, under the name of its
 * file or of its place there, so that each `$ref` points into the document and shared objects stay shared. Nothing is
 * fetched.
 *
 * @throws {DocumentError} if a file cannot be read, has a syntax error, or a reference leads to nothing.
 */
export async function loadDocument(name: string, { allowOutside = false }: LoadOptions = {}): Promise<Document> {
  const file = join(name);
  const contents = new Map<string, unknown>();
  const files = () => [...contents.keys()].map((path) => resolve(path));
  try {
    const isAllowed = (path: string) => allowOutside || isInside(dirname(file), path);
    await readFiles(file, contents, isAllowed);
    const source = contents.get(file);
    if (!isObject(source)) throw new DocumentError(`${file}:1:1 an OpenAPI document is an object at its top`);
    const { origins, problems } = bundle(file, source, contents);
    const findings = mixedVersions(contents);
    if (findings.length > 0) throw new DocumentError(describeFindings({ file, root: {} }, findings));
    const root = await toOpenApi31(file, source);
    return { file, root, unresolved: problems, version: String(source.openapi), origins, files: files() };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new DocumentError(error instanceof DocumentError ? message : `${file} cannot be read: ${message}`, files());
  }
}

/** Reads a file and those that it references. One that cannot be read is `Unreadable`. */
async function readFiles(
  file: string,
  contents: Map<string, unknown>,
  isAllowed: (path: string) => boolean,
): Promise<void> {
  contents.set(file, new Unreadable('there is no such file'));
  const value = parseFile(file, await readFile(file, 'utf8'));
  contents.set(file, value);
  const [[document, root] = [file, value]] = contents;
  relativizeReferences(value, file, document, asObject(root).$self);
  for (const ref of externalReferences(value)) {
    const target = targetOf(ref, { file, pointer: '' });
    if (contents.has(target.file)) continue;
    if (!isAllowed(target.file)) contents.set(target.file, new Unreadable(OUTSIDE));
    else {
      await readFiles(target.file, contents, isAllowed).catch((error: unknown) => {
        if (error instanceof DocumentError) throw error;
        const code = String(asObject(error).code);
        if (code !== 'ENOENT') contents.set(target.file, new Unreadable(code));
      });
    }
  }
}

const OUTSIDE = 'it is outside the folder of the document; --allow-outside reads it anyway';

/** Whether a file is in a folder, links followed. One that is missing is where its path leads. */
function isInside(folder: string, file: string): boolean {
  const path = relative(realpath(folder), realpath(file));
  return path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

function realpath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path === dirname(path) ? resolve(path) : join(realpath(dirname(path)), basename(path));
  }
}

/** The files whose version of OpenAPI is not that of the document: references do not change what a version means. */
function mixedVersions(contents: ReadonlyMap<string, unknown>): Finding[] {
  const [[document, root] = ['', {}], ...others] = contents;
  const versionOf = (content: unknown) => String(asObject(content).openapi ?? '');
  const mixed = others.filter(
    ([, content]) => versionOf(content) !== '' && minor(versionOf(content)) !== minor(versionOf(root)),
  );
  // The position takes time in a large document.
  const [place] = mixed.length === 0 ? [] : positionsOf([{ file: document, pointer: '/openapi' }]);
  return mixed.map(([file, content]) => ({
    file,
    pointer: '/openapi',
    message: `openapi is ${versionOf(content)}, but ${versionOf(root)} in the document that references it: ${place}`,
  }));
}

const minor = (version: string): string => version.split('.', 2).join('.');
