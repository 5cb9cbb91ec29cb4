import { readFileSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { bundle } from './bundle.ts';
import { asObject, DocumentError, isObject, type Json, resolveRef } from './document.ts';
import { mend } from './mend.ts';
import { operationsOf, webhooksOf } from './operations.ts';
import { parseFile } from './parse.ts';
import { describeFindings, positionsOf } from './positions.ts';
import type { Content } from './resolver.ts';
import { basePathsOf } from './servers.ts';
import type { Document } from './types.ts';

export interface LoadOptions {
  /** Whether references may lead to files outside the folder of the document. By default they must not. */
  readonly allowOutside?: boolean | undefined;
}

/**
 * Reads a document and the files that it references. What another file holds becomes a component, under the name of its
 * file or of its place there, so that each `$ref` points into the document and shared objects stay shared. Nothing is
 * fetched.
 *
 * @throws {DocumentError} if the document cannot be read, or a file has a syntax error.
 */
export async function loadDocument(name: string, { allowOutside = false }: LoadOptions = {}): Promise<Document> {
  const file = join(name);
  // Files that cannot be read are among them: tools watch them, too.
  const contents = new Map<string, Content>([[file, UNREAD]]);
  const files = () => [...contents.keys()].map((path) => resolve(path));
  try {
    const source = parseFile(file, readFileSync(file, 'utf8'));
    if (!isObject(source)) throw new DocumentError(`${file}:1:1 an OpenAPI document is an object at its top`);
    contents.set(file, { value: source });
    const { origins, problems } = bundle(file, source, (path) => {
      const known = contents.get(path);
      if (known !== undefined) return known;
      contents.set(path, UNREAD);
      const content = contentOf(path, file, allowOutside);
      contents.set(path, content);
      if ('value' in content) checkVersion(path, content.value, file, source);
      return content;
    });
    const version = String(source.openapi);
    const { root, mended } = await mend(file, source);
    const operations = operationsOf(root, root.paths);
    return {
      ...{ file, root, version, origins, unresolved: problems, mended, files: files(), operations },
      webhooks: webhooksOf(root, operations),
      basePaths: basePathsOf(root),
      securitySchemes: securitySchemesOf(root),
      describe: (findings) => describeFindings({ file, root, origins }, findings),
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new DocumentError(error instanceof DocumentError ? message : `${file} cannot be read: ${message}`, files());
  }
}

const securitySchemesOf = (root: Json): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(asObject(asObject(root.components).securitySchemes)).flatMap(([name, value]) => {
      const scheme = resolveRef(root, value);
      return scheme === undefined ? [] : [[name, scheme]];
    }),
  );

const UNREAD: Content = { reason: 'it has a syntax error' };

/** What a file holds that a document references. Links are followed before its folder counts. */
function contentOf(file: string, document: string, allowOutside: boolean): Content {
  try {
    const path = relative(realpathSync(dirname(document)), realpathSync(file));
    if (!allowOutside && (path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path))) {
      return { reason: 'it is outside the folder of the document; --allow-outside reads it anyway' };
    }
    return { value: parseFile(file, readFileSync(file, 'utf8')) };
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    const { code } = asObject(error);
    return { reason: code === 'ENOENT' ? 'there is no such file' : String(code) };
  }
}

/** References do not change what a version of OpenAPI means. @throws {DocumentError} if a file has another version. */
function checkVersion(file: string, value: unknown, document: string, root: Json): void {
  const { openapi } = asObject(value);
  const minor = (version: unknown) => String(version).split('.', 2).join('.');
  if (openapi === undefined || minor(openapi) === minor(root.openapi)) return;
  const [place, other] = positionsOf([file, document].map((path) => ({ file: path, pointer: '/openapi' })));
  const message = `openapi is ${openapi}, but ${root.openapi} in the document that references it: ${other}`;
  throw new DocumentError(`${place} ${message}`);
}
