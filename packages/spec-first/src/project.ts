import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { asObject, type Document } from 'openapi-document';
import manifest from '../package.json' with { type: 'json' };
import { checkFile } from './check.ts';
import { errorsFile } from './error-form.ts';
import { lintDocument, withLintMessages } from './lint.ts';
import { generateTypes } from './types.ts';

type Files = Map<string, string | Buffer>;

const templates = join(import.meta.dirname, '../templates');

/**
 * The files of a new project, by path. Without a document they are the example.
 *
 * @throws {Error} if the document cannot be read, has errors, or references files outside its folder.
 */
export async function projectFiles(folder: string, named: string | undefined): Promise<Files> {
  const file = named ?? join(templates, 'books/openapi.yaml');
  const { document, problems } = await checkFile(file);
  if (document === undefined) throw new Error(withLintMessages(problems, await lintDocument(file)).join('\n'));

  const documents = documentFiles(file, document);
  const [name = 'openapi.yaml'] = documents.keys();
  const title = String(asObject(document.root.info).title ?? 'Service');
  const copied = [...new Set([...documents.keys()].map((path) => path.split('/')[0] ?? path))];
  const renamed = name === 'openapi.yaml' ? '' : `OPENAPI_FILE=${name}`;
  const words: Readonly<Record<string, string>> = {
    name: packageName(basename(resolve(folder))),
    title,
    version: manifest.version,
    document: name,
    documentVariable: renamed,
    documentEnvironment: renamed && `ENV ${renamed}`,
    copyDocument: copied.map((path) => `COPY ${path} ./${documents.has(path) ? '' : path}`).join('\n'),
  };
  const project = templateFiles('project', words);
  // Only the books are kept in a database.
  if (named !== undefined)
    project.set('package.json', String(project.get('package.json')).replace(/\n.*"group-commit".*/, ''));
  return new Map([
    ...project,
    ...templateFiles(named === undefined ? 'books' : 'document', words),
    ...documents,
    ['generated/openapi.ts', await generateTypes(document)],
    ['src/errors.ts', errorsFile(document)],
  ]);
}

/** The files of a document as they are copied, its own first. A document of one YAML file is named `openapi.yaml`. */
function documentFiles(file: string, { files = [resolve(file)] }: Document): Files {
  const paths = new Set([resolve(file), ...files]);
  const inside = [...paths].map((path) => [path, relative(dirname(resolve(file)), path)] as const);
  const outside = inside.filter(([, path]) => isAbsolute(path) || path.split(sep)[0] === '..').map(([path]) => path);
  if (outside.length > 0) {
    throw new Error(
      `${file} references files outside its folder: ${outside.join(', ')}. Move the document above them, or bundle it.`,
    );
  }
  const renamed = paths.size === 1 && /^\.ya?ml$/.test(extname(file));
  return new Map(
    inside.map(([path, name]) => [renamed ? 'openapi.yaml' : name.replaceAll(sep, '/'), readFileSync(path)]),
  );
}

/** The files of a folder of templates, with words filled in. An underscore stands for the first dot of a hidden file. */
function templateFiles(folder: string, words: Readonly<Record<string, string>>): Files {
  const top = join(templates, folder);
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
