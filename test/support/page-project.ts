import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENVIRONMENT } from 'test-support/environment';
import { makeProject, SPEC_FIRST } from 'test-support/project';
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
export function projectOf(page: string): PageProject {
  const markdown = readMarkdown(readPage(page));
  const files = markdown.blocks.filter(isCode).map(({ code }, index) => {
    const name = /^\/\/ (\S+)\n/.exec(code)?.[1] ?? `src/example-${index}.ts`;
    return [name, code] as const;
  });
  const document = markdown.blocks.find(isDocument)?.code ?? readPage('openapi.yaml');
  const folder = makeProject({ ...Object.fromEntries(files), 'openapi.yaml': document });
  const generate = [SPEC_FIRST, 'generate', '--client', 'src/plants.ts'];
  execFileSync(process.execPath, generate, { cwd: folder, env: ENVIRONMENT, stdio: 'ignore' });
  const config = {
    extends: './tsconfig.json',
    // An example may show a value without using it.
    compilerOptions: { noUnusedLocals: false },
    include: ['*.ts', 'src', 'test'],
  };
  writeFileSync(join(folder, 'tsconfig.page.json'), JSON.stringify(config));
  return { ...markdown, folder };
}
