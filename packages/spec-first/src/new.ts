import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { asObject, type Document } from 'openapi-document';
import manifest from '../package.json' with { type: 'json' };
import { checkFile } from './check.ts';
import { ALLOW_OUTSIDE, command, UsageError } from './command.ts';
import { errorsFile } from './errors-file.ts';
import { handlersFile } from './handlers-file.ts';
import { generateTypes, TYPES } from './types.ts';

const USAGE = `Usage: spec-first new DIR [DOCUMENT] [--allow-outside]

Makes a project in DIR that serves an OpenAPI document: its types, a file for handlers, a test and
a Dockerfile. Without DOCUMENT, it serves the example, a small book catalogue.
DIR must be empty or missing: nothing is overwritten.

  --allow-outside   also copy files outside the document's folder that it references
  --help            show this`;

/** Paths of the JSON Schemas that editors use to validate a document, by OpenAPI version. */
const SCHEMAS: Readonly<Record<string, string>> = {
  '3.0': '3.0/schema/2024-10-18',
  '3.1': '3.1/schema/2022-10-07',
  '3.2': '3.2/schema/2025-11-23',
};

const templates = join(import.meta.dirname, '../templates');

/** Makes a project for a document. Resolves to the exit code. */
export const run = command(USAGE, ALLOW_OUTSIDE, 2, async (values, [folder, document]) => {
  if (folder === undefined) throw new UsageError('Name a folder, such as "my-api"');
  if (statSync(folder, { throwIfNoEntry: false })?.isFile())
    throw new UsageError(`${folder} is a file: name the folder first, then the document`);
  if (/^https?:/.test(document ?? ''))
    throw new UsageError(`${document} is a URL: save the document to a file first`);
  const entries = existsSync(folder) ? readdirSync(folder).filter((name) => name !== '.git') : [];
  if (entries.length > 0)
    throw new Error(`${folder} is not empty: it has ${entries[0]}. Name an empty or a new folder.`);
  console.log(`Reading ${document ?? 'the example, a book catalogue'} …`);
  const { files, problems, notices } = await projectFiles(
    folder,
    document,
    values['allow-outside'],
  );
  for (const line of [...problems, ...notices]) console.error(line);
  if (problems.length > 0)
    console.error('Operations with an error respond with 501 until you fix the error.');
  for (const [path, content] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content, { flag: 'wx' });
  }
  for (const [, todo] of String(files.get('src/errors.ts')).matchAll(/^\/\/ TODO: (.*)\.$/gm))
    console.log(`src/errors.ts: ${todo}.`);
  console.log(`${files.size} files written to ${folder}. Next:

  cd ${folder}
  npm install
  npm start`);
  return 0;
});

/**
 * Returns the contents of a new project's files by path, and the errors and the first notices of
 * its document as lines of `file:line:column message`.
 *
 * @param file the path of the document; by default, that of the example.
 * @throws {Error} if the document cannot be served, or a file cannot be copied.
 */
export async function projectFiles(
  folder: string,
  file = join(templates, 'books.yaml'),
  allowOutside = false,
) {
  const { document, problems, notices } = await checkFile(file, allowOutside);
  if (document === undefined) throw new Error(problems.join('\n'));

  const mainFile = resolve(file);
  const copied = copiedFiles(mainFile, document, allowOutside);
  let top = dirname(mainFile);
  while (!copied.every((path) => isInside(top, path))) top = dirname(top);
  const copies = new Map(
    copied.map((path) => [path, nameOfCopy(path, top, copied.length, path === mainFile)]),
  );
  const documentPath = copies.get(mainFile) ?? '';
  const flag = top === dirname(mainFile) ? '' : '--allow-outside';
  const version = document.version.split('.', 2).join('.');
  const values: Readonly<Record<string, string>> = {
    name: packageName(basename(resolve(folder))),
    title: String(asObject(document.root.info).title ?? 'Service').replace(/\s+/g, ' '),
    version: manifest.version,
    document: documentPath,
    schema: `https://spec.openapis.org/oas/${SCHEMAS[version] ?? SCHEMAS['3.1']}`,
    documents: documentPath.split('/')[0] ?? '',
    flag: flag && ` ${flag}`,
    argument: flag && `, "${flag}"`,
  };
  const files = new Map<string, string | Buffer>([
    ...templateFiles(values),
    ...[...copies].map(([path, copy]) => [copy, readFileSync(path)] as const),
    [TYPES, await generateTypes(document, basename(documentPath))],
    ['src/errors.ts', errorsFile(document)],
    ['src/handlers.ts', handlersFile(document.operations.map(({ id }) => id))],
  ]);
  if (flag !== '') {
    const test = String(files.get('test/service.test.ts'));
    const withOption = test.replace('testService();', 'testService({ allowOutside: true });');
    files.set('test/service.test.ts', withOption);
  }
  return { files, problems, notices: notices() };
}

/** Returns a valid name for an npm package, made from the name of a folder. */
export function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z\d._-]+/g, '-')
    .replace(/^[._-]+/, '')
    .slice(0, 214);
  const isReserved = name === 'node_modules' || name === 'favicon.ico' || isBuiltin(name);
  return name === '' || isReserved ? 'service' : name;
}

/** Returns the existing files of a document. Omits those outside its folder by default. */
function copiedFiles(mainFile: string, { files }: Document, allowOutside: boolean): string[] {
  const folder = realpathSync(dirname(mainFile));
  return files.filter(
    (path) =>
      path === mainFile ||
      (existsSync(path) && (allowOutside || isInside(folder, realpathSync(path)))),
  );
}

const isInside = (folder: string, path: string): boolean => path.startsWith(join(folder, sep));

/** The path of the document, which scripts and the Dockerfile contain without quotation marks. */
const PLAIN_PATH = /^[\w./-]+$/;

/** A path whose names have characters that each system allows, such as `paths/a@{id}.yaml`. */
const PORTABLE_PATH =
  /^(?!(.*\/)?(node_modules\/|[.-]))([^\\/:*?"'<>|\p{Cc}]+\/)*[^\\/:*?"'<>|\p{Cc}]+$/u;

/**
 * Returns the path of a copy in the project. A single file is `openapi.json` or `openapi.yaml`.
 * Several files keep their paths below `top` in the folder `api`, where they cannot overwrite
 * project files.
 *
 * @param isMain true for the document, false for a file that it references.
 * @throws {Error} if the path has a name or a character that is not allowed.
 */
function nameOfCopy(path: string, top: string, count: number, isMain: boolean): string {
  if (count === 1) return /\.json$/i.test(path) ? 'openapi.json' : 'openapi.yaml';
  const name = relative(top, path).replaceAll(sep, '/');
  if (PORTABLE_PATH.test(name) && (!isMain || PLAIN_PATH.test(name))) return `api/${name}`;
  const allowed = isMain
    ? 'The path of the document may contain ASCII letters, digits, dots, hyphens and underscores'
    : `A path must not contain any of \\ : * ? " ' < > |`;
  throw new Error(
    `${JSON.stringify(name)} cannot be copied: rename it. ${allowed}. No name in it may start ` +
      'with a dot or a hyphen, and no folder may be node_modules.',
  );
}

/**
 * Returns the files that each project has, with placeholders such as `{{name}}` replaced by values.
 * A path that starts with an underscore starts with a dot in the project.
 */
function templateFiles(
  values: Readonly<Record<string, string>>,
): [path: string, content: string][] {
  const top = join(templates, 'project');
  const entries = readdirSync(top, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const text = readFileSync(path, 'utf8');
      return [
        relative(top, path).replaceAll(sep, '/').replace(/^_/, '.'),
        text.replace(/(?<!\$){{(\w+)}}/g, (_, name: string) => values[name] ?? ''),
      ];
    });
}
