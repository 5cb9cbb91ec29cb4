import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeProject } from 'test-support/project';
import { PROJECT } from './launch.ts';
import { type Markdown, readMarkdown } from './markdown.ts';
import { typesOf } from './types.ts';

export interface PageProject extends Markdown {
  readonly folder: string;
}

/**
 * Writes the service of a page into a folder: its first block of YAML is the document, and code
 * begins with the name of its file, as in `// src/main.ts`.
 */
export function projectOf(page: string): PageProject {
  const markdown = readMarkdown(readFileSync(join(PROJECT, page), 'utf8'));
  const files = markdown.blocks.flatMap(({ language, code }) => {
    const name = /^\/\/ (\S+)\n/.exec(code)?.[1];
    return language === 'ts' && name !== undefined ? [[name, code] as const] : [];
  });
  const document = markdown.blocks.find(({ language }) => language === 'yaml')?.code ?? '';
  const folder = makeProject({ ...Object.fromEntries(files), 'openapi.yaml': document });
  mkdirSync(join(folder, 'generated'));
  const [types = ''] = typesOf([join(folder, 'openapi.yaml')]);
  writeFileSync(join(folder, 'generated/openapi.ts'), types);
  const config = { extends: './tsconfig.json', include: ['src', 'test'] };
  writeFileSync(join(folder, 'tsconfig.page.json'), JSON.stringify(config));
  return { ...markdown, folder };
}
