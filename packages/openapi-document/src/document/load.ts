import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { bundle } from './bundle.ts';
import { asObject, type Document, DocumentError, type Finding, isObject } from './document.ts';
import { parseFile } from './parse.ts';
import { describeFindings, positionsOf } from './positions.ts';
import { externalReferences, relativizeReferences, targetOf } from './references.ts';
import { toOpenApi31 } from './versions.ts';

/**
 * Reads a document and the files that it references. What another file holds becomes a component, under the name of its
 * file or of its place there, so that each `$ref` points into the document and shared objects stay shared.
 *
 * @throws {DocumentError} if a file cannot be read, has a syntax error, or a reference leads to nothing.
 */
export async function loadDocument(name: string): Promise<Document> {
  const file = join(name);
  const contents = new Map<string, unknown>();
  const files = () => [...contents.keys()].map((path) => resolve(path));
  try {
    await readFiles(file, contents);
    const source = contents.get(file);
    if (!isObject(source)) throw new DocumentError(`${file}:1:1 an OpenAPI document is an object at its top`);
    const { origins, problems } = bundle(file, source, contents);
    const findings = [...mixedVersions(contents), ...problems];
    if (findings.length > 0) throw new DocumentError(describeFindings({ file, root: {} }, findings));
    const root = await toOpenApi31(file, source);
    return { file, root, version: String(source.openapi), origins, files: files() };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new DocumentError(error instanceof DocumentError ? message : `${file} cannot be read: ${message}`, files());
  }
}

/** The contents of a file and of those that it references, by path; `undefined` for a file that cannot be read. */
async function readFiles(file: string, contents: Map<string, unknown>): Promise<void> {
  contents.set(file, undefined);
  const value = parseFile(file, await readFile(file, 'utf8'));
  contents.set(file, value);
  const [[document, root] = [file, value]] = contents;
  relativizeReferences(value, file, document, asObject(root).$self);
  for (const ref of externalReferences(value)) {
    const target = targetOf(ref, { file, pointer: '' });
    if (contents.has(target.file)) continue;
    await readFiles(target.file, contents).catch((error: unknown) => {
      // The bundler names the references to a file that cannot be read.
      if (error instanceof DocumentError) throw error;
    });
  }
}

/** The files whose version of OpenAPI is not that of the document: references do not change what a version means. */
function mixedVersions(contents: ReadonlyMap<string, unknown>): Finding[] {
  const [[document, root] = ['', {}], ...others] = contents;
  const versionOf = (content: unknown) => String(asObject(content).openapi ?? '');
  const [place] = positionsOf([{ file: document, pointer: '/openapi' }]);
  return others
    .filter(([, content]) => versionOf(content) !== '' && minor(versionOf(content)) !== minor(versionOf(root)))
    .map(([file, content]) => ({
      file,
      pointer: '/openapi',
      message: `openapi is ${versionOf(content)}, but ${versionOf(root)} in the document that references it: ${place}`,
    }));
}

const minor = (version: string): string => version.split('.', 2).join('.');
