import { execFileSync } from 'node:child_process';
import { ENVIRONMENT } from 'test-support/environment';
import { PROJECT } from './launch.ts';

const TYPES = new URL('../../packages/spec-first/src/types.ts', import.meta.url).href;

/**
 * Generates the types of documents. Runs in a child process, since loading a compiler inside Jest
 * takes three times as long.
 */
export function typesOf(documents: readonly string[]): string[] {
  const program = `
    import { loadDocument } from 'openapi-document';
    import { generateTypes } from ${JSON.stringify(TYPES)};
    const types = [];
    for (const document of ${JSON.stringify(documents)})
      types.push(await generateTypes(await loadDocument(document)));
    console.log(JSON.stringify(types));`;
  const args = ['--input-type=module', '--eval', program];
  const output = execFileSync(process.execPath, args, {
    cwd: PROJECT,
    env: ENVIRONMENT,
    encoding: 'utf8',
  });
  return JSON.parse(output);
}
