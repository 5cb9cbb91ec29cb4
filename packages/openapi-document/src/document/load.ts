import { readFileSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { bundle } from './bundle.ts';
import { asArray, asObject, DocumentError, type Finding, isObject, type Json, resolveRef } from './document.ts';
import { mend } from './mend.ts';
import { operationsOf, webhooksOf } from './operations.ts';
import { describeFindings, parseFile, positionsOf } from './parse.ts';
import type { Content } from './resolver.ts';

/** An OpenAPI document. Each `$ref` points into `root`, also where the document consists of several files. */
export interface Document extends Awaited<ReturnType<typeof read>> {}

/**
 * Reads a document and the files that it references. What another file holds becomes a component, under the name of its
 * file or of its place there, so that each `$ref` points into the document and shared objects stay shared. Nothing is
 * fetched.
 *
 * @param options.allowOutside whether references may lead to files outside the folder of the document.
 * @throws {DocumentError} if the document cannot be read, or a file has a syntax error.
 */
export async function loadDocument(
  name: string,
  { allowOutside = false }: { readonly allowOutside?: boolean | undefined } = {},
): Promise<Document> {
  const file = join(name);
  // Files that cannot be read are among them: tools watch them, too.
  const contents = new Map<string, Content>([[file, UNREAD]]);
  try {
    return await read(file, contents, allowOutside);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const reason = error instanceof DocumentError ? message : `${file} cannot be read: ${message}`;
    throw new DocumentError(reason, filesOf(contents));
  }
}

const filesOf = (contents: ReadonlyMap<string, Content>) => [...contents.keys()].map((path) => resolve(path));

async function read(file: string, contents: Map<string, Content>, allowOutside: boolean) {
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
  const schemes = Object.entries(asObject(asObject(root.components).securitySchemes));
  return {
    file,
    root,
    /** The version of OpenAPI that it is written in. `root` is of 3.1 or 3.2. */
    version,
    /** Absolute paths of all files that were read. */
    files: filesOf(contents),
    operations,
    /**
     * What the service sends: webhooks with their names as paths, and callbacks with `operationId.name`. Of a callback with
     * several URLs, the first one counts.
     */
    webhooks: webhooksOf(root, operations),
    basePaths: basePathsOf(root),
    /** The Security Scheme Objects by name, references followed. */
    securitySchemes: Object.fromEntries(schemes.map(([name, value]) => [name, resolveRef(root, value) ?? {}])),
    /** The references that cannot be followed, which are removed. */
    unresolved: problems,
    /** What is read otherwise than it is written. */
    mended,
    /** The findings as text, one line each, in the order of the files: `file:line:column message`. Equal lines appear once. */
    describe: (findings: readonly Finding[]) => describeFindings(file, root, origins, findings),
  };
}

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

/** The paths of the Server Objects' URLs (OpenAPI 3.1 §4.8.5), with each value that their variables may have. */
function basePathsOf(root: Json): readonly [string, ...string[]] {
  const paths = asArray(root.servers)
    .map(asObject)
    .flatMap(({ url, variables }) => {
      let urls = [String(url)];
      for (const [name, variable] of Object.entries(asObject(variables))) {
        const { enum: values, default: preset } = asObject(variable);
        const choices = asArray(values).length > 0 ? asArray(values) : [preset];
        urls = urls.flatMap((text) => choices.map((choice) => text.replaceAll(`{${name}}`, String(choice))));
      }
      return urls.map((text) => {
        const path = URL.parse(lacksScheme(text) ? `http://${text}` : text, 'http://host/')?.pathname ?? '';
        return path.startsWith('/') ? path.replace(/\/+$/, '') : '';
      });
    });
  const [first = '', ...others] = new Set(paths);
  return [first, ...others];
}

/** Whether a server URL begins with a host and a port: `localhost:3000/v1` is a URL of the scheme `localhost`. */
export const lacksScheme = (url: string): boolean => /^[\w.-]+:\d+(\/|$)/.test(url);
