import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path';
import { asObject, type Document } from 'openapi-document';
import manifest from '../package.json' with { type: 'json' };
import { checkFile } from './check.ts';
import { command, UsageError } from './command.ts';
import { errorsFile } from './error-form.ts';
import { generateTypes, TYPES } from './types.ts';

const USAGE = `Usage: spec-first new DIR [DOCUMENT]

Makes a project in DIR that serves an OpenAPI document: its types, an empty file of handlers, a test, a Dockerfile.
Without DOCUMENT it serves a small library of books.
DIR must be empty or missing: nothing is overwritten.

  --help   show this`;

const templates = join(import.meta.dirname, '../templates');

/** Makes a project for a document. Resolves to the exit code. */
export const run = command(USAGE, {}, 2, async (_values, [folder, document]) => {
  if (folder === undefined) throw new UsageError('A folder is expected, and a document or none');
  const present = existsSync(folder) ? readdirSync(folder).filter((name) => name !== '.git') : [];
  if (present.length > 0) {
    const shown = present.slice(0, 3).join(', ') + (present.length > 3 ? ', …' : '');
    throw new Error(`${folder} is not empty (${shown}). Name an empty or a new folder: nothing is overwritten.`);
  }
  console.log(document === undefined ? 'Making a library of books …' : `Reading ${document}, and writing its types …`);
  const files = await projectFiles(folder, document);
  for (const [path, content] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content, { flag: 'wx' });
  }
  console.log(`${files.size} files written to ${folder}. Go on with:

  cd ${folder}
  npm install
  npm start`);
  return 0;
});

/**
 * The files of a new project, by path. Without a document they are the example.
 *
 * @throws {Error} if the document cannot be read, has errors, or references files outside its folder.
 */
export async function projectFiles(folder: string, named: string | undefined): Promise<Map<string, string | Buffer>> {
  const file = named ?? join(templates, 'books.yaml');
  const { document, problems } = await checkFile(file);
  if (document === undefined || problems.length > 0) throw new Error(problems.join('\n'));

  const documents = documentFiles(file, document);
  const [name = ''] = documents.keys();
  const words: Readonly<Record<string, string>> = {
    // As npm allows it for a package.
    name:
      basename(resolve(folder))
        .toLowerCase()
        .replace(/[^a-z\d._-]+/g, '-')
        .replace(/^[._-]+/, '') || 'service',
    title: String(asObject(document.root.info).title ?? 'Service').replace(/\s+/g, ' '),
    version: manifest.version,
    document: name,
    documents: name.split('/')[0] ?? '',
  };
  return new Map<string, string | Buffer>([
    ...templateFiles(words),
    ...documents,
    [TYPES, await generateTypes(document)],
    ['src/errors.ts', errorsFile(document)],
  ]);
}

/**
 * The files of a document as they are copied, its own first: `openapi.yaml` or `openapi.json`, or the folder `api` with all of
 * them under their names, where none can take the place of a file of the project.
 *
 * @throws {Error} if a file is hidden, or has a name that has to be quoted somewhere.
 */
function documentFiles(file: string, { files = [] }: Document): Map<string, Buffer> {
  const paths = [...new Set([resolve(file), ...files])].filter((path) => existsSync(path));
  const extension = extname(file).toLowerCase() === '.json' ? 'json' : 'yaml';
  const copies = paths.map((path) => {
    const name = relative(dirname(resolve(file)), path).replaceAll(sep, '/');
    if (!/^(\w[\w.-]*\/)*\w[\w.-]*$/.test(name) || /(^|\/)node_modules\//.test(name)) {
      const rule = 'letters, digits, dots, hyphens and underscores, and none is hidden or in node_modules';
      throw new Error(`${JSON.stringify(name)} cannot be copied: names of files consist of ${rule}.`);
    }
    return [paths.length === 1 ? `openapi.${extension}` : `api/${name}`, readFileSync(path)] as const;
  });
  return new Map(copies);
}

/** The files of each project, with words filled in. An underscore stands for the first dot of a hidden file. */
function templateFiles(words: Readonly<Record<string, string>>): [path: string, content: string][] {
  const top = join(templates, 'project');
  const entries = readdirSync(top, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const text = readFileSync(path, 'utf8').replace(/(?<!\$){{(\w+)}}/g, (_, word: string) => words[word] ?? '');
    return [relative(top, path).replaceAll(sep, '/').replace(/^_/, '.'), text];
  });
}
