import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ts } from 'test-support/typescript-5';

const project = join(import.meta.dirname, '../../..');
const file = join(project, 'src/completed.ts');
const text = `import type { Handlers, ReplyTo } from '../generated/openapi.ts';

export const handlers: Handlers = {
  async createPlant(): Promise<ReplyTo<'createPlant'>> {
    return { status: 0, body: { name: 'Fern' } };
  },
};
`;

// Loading TypeScript and its libraries takes seconds.
test('an editor completes the declared statuses of a reply', () => {
  const read = (path: string) => (path === file ? text : ts.sys.readFile(path));
  const service = ts.createLanguageService({
    getCompilationSettings: () => ({
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ESNext,
      lib: ['lib.esnext.d.ts'],
      types: [],
    }),
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot(path) {
      const source = read(path);
      return source === undefined ? undefined : ts.ScriptSnapshot.fromString(source);
    },
    getCurrentDirectory: () => project,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (path) => read(path) !== undefined,
    readFile: read,
  });
  const position = text.indexOf('status: 0') + 'status: '.length;
  const entries = service.getCompletionsAtPosition(file, position, {})?.entries ?? [];
  const statuses = entries.map(({ name }) => name).filter((name) => /^\d+$/.test(name));
  expect(statuses).toEqual(expect.arrayContaining(['200', '400', '404', '503']));
  expect(statuses).not.toContain('201');
});
