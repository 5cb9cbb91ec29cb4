import { globSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { loadDocument } from 'openapi-document';
import { compile, makeProject } from 'test-support/project';
import { parse } from 'yaml';
import { generateClient, generateTypes } from '../../packages/spec-first/src/types.ts';
import { PROJECT } from './launch.ts';
import { type Block, type Markdown, readMarkdown } from './markdown.ts';

/** The pages of the project, and of the projects that it creates. */
export const PAGES = globSync(
  [
    'README.md',
    '{.github,docs}/*.md',
    '{packages,examples}/*/README.md',
    'packages/spec-first/templates/project/README.md',
  ],
  { cwd: PROJECT },
).sort();

export interface PageProject extends Markdown {
  readonly folder: string;
}

export const readPage = (page: string): string => readFileSync(join(PROJECT, page), 'utf8');

/** Returns the value of a word after the language of a block, such as `docker` of `needs=docker`. */
export const wordOf = ({ info }: Block, name: string): string | undefined =>
  new RegExp(`(?:^| )${name}=(\\S+)`).exec(info)?.[1];

/** Returns true for a block that is compiled: neither part of a file, nor for another compiler. */
export const isCode = (block: Block): boolean => block.language === 'ts' && block.info === '';

export const isDocument = ({ language, code }: Block): boolean =>
  language === 'yaml' && code.startsWith('openapi:');

/**
 * Writes the code of a page into a folder. The first OpenAPI document of the page is its document,
 * or else that of the plant store. Code may begin with the name of its file, as in
 * `// src/main.ts`.
 */
export async function projectOf(page: string): Promise<PageProject> {
  const markdown = readMarkdown(readPage(page));
  const files = markdown.blocks.filter(isCode).map(({ code }, index) => {
    const name = /^\/\/ (\S+)\n/.exec(code)?.[1] ?? `src/example-${index}.ts`;
    return [name, code] as const;
  });
  const text = markdown.blocks.find(isDocument)?.code ?? readPage('openapi.yaml');
  const document = await loadDocument(parse(text));
  const folder = makeProject({
    ...Object.fromEntries(files),
    'openapi.yaml': text,
    'generated/openapi.ts': await generateTypes(document),
    'src/plants.ts': await generateClient(document),
  });
  return { ...markdown, folder };
}

/** Compiles the code of pages in one run. Returns the messages of the compiler by folder. */
export function compileAll(folders: readonly string[]): ReadonlyMap<string, string> {
  const config = {
    extends: join(PROJECT, 'tsconfig.json'),
    compilerOptions: {
      typeRoots: [join(PROJECT, 'node_modules/@types')],
      // An example may show a value without using it.
      noUnusedLocals: false,
    },
    include: folders.flatMap((folder) => ['*.ts', 'src', 'test'].map((path) => join(folder, path))),
  };
  const folder = makeProject({ 'tsconfig.json': JSON.stringify(config) });
  const messages = compile(folder).split(/^(?=\S)/m);
  rmSync(folder, { recursive: true });
  // A message without a file concerns all folders.
  const isAbout = (message: string, name: string) =>
    message.includes(`${basename(name)}/`) || !/^\S*\.ts\(/.test(message);
  return new Map(
    folders.map((name) => [name, messages.filter((message) => isAbout(message, name)).join('')]),
  );
}
