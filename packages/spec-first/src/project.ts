import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path';
import { asObject, type Document } from 'openapi-document';
import manifest from '../package.json' with { type: 'json' };
import { checkFile } from './check.ts';
import { errorsFile } from './error-form.ts';
import { generateTypes } from './types.ts';

type Files = Map<string, string | Buffer>;

const templates = join(import.meta.dirname, '../templates');

/**
 * The files of a new project, by path. Without a document they are the example.
 *
 * @throws {Error} if the document cannot be read, has errors, or references files outside its folder.
 */
export async function projectFiles(folder: string, named: string | undefined): Promise<Files> {
  const file = named ?? join(templates, 'books.yaml');
  const { document, problems } = await checkFile(file);
  if (document === undefined || problems.length > 0) throw new Error(problems.join('\n'));

  const documents = documentFiles(file, document);
  const [name = 'openapi.yaml'] = documents.keys();
  const title = String(asObject(document.root.info).title ?? 'Service').replace(/\s+/g, ' ');
  const renamed = name === 'openapi.yaml' ? '' : `OPENAPI_FILE=${name}`;
  const words: Readonly<Record<string, string>> = {
    name: packageName(basename(resolve(folder))),
    title,
    version: manifest.version,
    document: name,
    documentVariable: renamed,
    documentEnvironment: renamed && `ENV ${renamed}`,
    copyDocument: documents.size === 1 ? `COPY ${name} ./` : 'COPY api ./api',
  };
  return new Map([
    ...templateFiles(words),
    ...documents,
    ['generated/openapi.ts', await generateTypes(document)],
    ['src/errors.ts', errorsFile(document)],
  ]);
}

/**
 * The files of a document as they are copied, its own first: `openapi.yaml` or `openapi.json`, or the folder `api` with all of
 * them under their names, where none can take the place of a file of the project.
 *
 * @throws {Error} if a file is hidden, or has a name that has to be quoted somewhere.
 */
function documentFiles(file: string, { files = [resolve(file)] }: Document): Files {
  const paths = [...new Set([resolve(file), ...files])].filter((path) => existsSync(path));
  const names = paths.map((path) => relative(dirname(resolve(file)), path).replaceAll(sep, '/'));
  const odd = names.filter(
    (name) => !/^(\w[\w.-]*\/)*\w[\w.-]*$/.test(name) || name.split('/').includes('node_modules'),
  );
  if (odd.length > 0) {
    const rule = 'letters, digits, dots, hyphens and underscores, and none is hidden or in node_modules';
    throw new Error(
      `${odd.map((name) => JSON.stringify(name)).join(', ')} cannot be copied: names of files consist of ${rule}.`,
    );
  }
  const extension = extname(file).toLowerCase() === '.json' ? 'json' : 'yaml';
  const target = (name: string) => (paths.length === 1 ? `openapi.${extension}` : `api/${name}`);
  return new Map(paths.map((path, index) => [target(names[index] ?? ''), readFileSync(path)]));
}

/** The files of each project, with words filled in. An underscore stands for the first dot of a hidden file. */
function templateFiles(words: Readonly<Record<string, string>>): Files {
  const top = join(templates, 'project');
  const entries = readdirSync(top, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const path = relative(top, join(entry.parentPath, entry.name)).replaceAll(sep, '/').replace(/^_/, '.');
      const text = readFileSync(join(entry.parentPath, entry.name), 'utf8');
      const filled = text.replace(/(\n?){{(\w+)}}(?=(\n?))/g, (_, before: string, word: string, after: string) => {
        const value = words[word] ?? '';
        // A line with nothing to say is left out.
        return value === '' && before !== '' && after !== '' ? '' : before + value;
      });
      return [path, filled];
    }),
  );
}

/** A folder's name as npm allows it for a package. */
function packageName(name: string): string {
  return (
    name
      .toLowerCase()
      .replace(/[^a-z\d._-]+/g, '-')
      .replace(/^[._-]+/, '') || 'service'
  );
}
