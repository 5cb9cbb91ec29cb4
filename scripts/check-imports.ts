/**
 * Checks imports: a folder may import only the folders that `FOLDERS` lists for it. Packages and
 * examples import each other by name. Biome checks that no files import each other in a cycle.
 *
 * Usage: node scripts/check-imports.ts. Exits with 1 if a rule is broken.
 */
import { dirname, join } from 'node:path/posix';
import { checkFiles } from './check-files.ts';

/** The other folders that each folder may import, relative to it. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  src: ['stores', '../generated'],
  'src/stores': [],
  scripts: ['../src', '../src/stores'],
  'scripts/bench': [],
  'scripts/bench/contenders': [],
  'packages/create-spec-first/src': [],
  'packages/group-commit/src': [],
  'packages/group-commit/src/postgres': ['..'],
  'packages/group-commit/src/sqlite': ['..'],
  'packages/openapi-document/src': [
    'checks',
    'codecs',
    'json',
    'operations',
    'parameters',
    'schema',
    'source',
  ],
  // Each of these layers imports only those before it.
  'packages/openapi-document/src/json': [],
  'packages/openapi-document/src/source': ['../json'],
  'packages/openapi-document/src/schema': ['../json', '../source'],
  'packages/openapi-document/src/parameters': ['../json', '../source', '../schema'],
  'packages/openapi-document/src/codecs': ['../json', '../source', '../schema', '../parameters'],
  'packages/openapi-document/src/operations': [
    '../json',
    '../source',
    '../schema',
    '../parameters',
    '../codecs',
  ],
  'packages/openapi-document/src/checks': [
    '../json',
    '../source',
    '../schema',
    '../codecs',
    '../operations',
  ],
  'packages/openapi-document/src/client': [
    '../json',
    '../source',
    '../parameters',
    '../codecs',
    '../operations',
  ],
  'packages/openapi-document/src/samples': ['../source', '../schema', '../codecs', '../operations'],
  'packages/spec-first/src': ['contract-tests', 'dev', 'diff'],
  'packages/spec-first/src/contract-tests': [],
  'packages/spec-first/src/dev': ['..'],
  'packages/spec-first/src/diff': ['..'],
  'packages/spec-first-server/src': [
    'core',
    'core/handlers',
    'core/response',
    'core/security',
    'adapters',
    'adapters/node',
    'serve',
  ],
  'packages/spec-first-server/src/core': [
    '../http',
    'handlers',
    'request',
    'response',
    'security',
    'validation',
  ],
  'packages/spec-first-server/src/core/handlers': [],
  'packages/spec-first-server/src/core/validation': [],
  'packages/spec-first-server/src/core/response': [
    '..',
    '../../http',
    '../handlers',
    '../validation',
  ],
  'packages/spec-first-server/src/core/security': ['..', '../handlers', '../response'],
  'packages/spec-first-server/src/core/request': [
    '..',
    '../handlers',
    '../response',
    '../validation',
  ],
  'packages/spec-first-server/src/http': [],
  'packages/spec-first-server/src/listener': ['../http'],
  'packages/spec-first-server/src/adapters': ['node', '../core', '../core/response', '../http'],
  'packages/spec-first-server/src/adapters/node': [
    '../../core',
    '../../core/response',
    '../../http',
  ],
  'packages/spec-first-server/src/page': ['../core'],
  'packages/spec-first-server/src/serve': [
    '../adapters',
    '../adapters/node',
    '../core',
    '../core/handlers',
    '../core/request',
    '../core/response',
    '../core/security',
    '../http',
    '../listener',
    '../page',
  ],
};

const TABLE = 'FOLDERS in scripts/check-imports.ts';

/** Matches the folders that `FOLDERS` must list. */
const SOURCES = /^(src|scripts|packages\/[^/]+\/src)(\/|$)/;

const IMPORT =
  /^(?:import|export|\}).*\bfrom '(\.[^']+)'|^import '(\.[^']+)'|\bimport\('(\.[^']+)'\)/;

export function forbiddenImports(file: string, text: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    const [, ...groups] = IMPORT.exec(line) ?? [];
    const specifier = groups.find((group) => group !== undefined);
    if (specifier === undefined) return [];
    const reason = forbidden(file, join(dirname(file), specifier));
    return reason === undefined ? [] : [`${file}:${index + 1} imports ${specifier}: ${reason}`];
  });
}

/** Returns the reason why a file must not import another one, and how to fix it. */
function forbidden(file: string, imported: string): string | undefined {
  const part = partOf(file);
  const importedPart = partOf(imported);
  // The tests of the repository may test inner parts of a package.
  if (part === 'test') return undefined;
  // A package may have another version of a dependency than the root has, in its own node_modules.
  if (imported.includes('/node_modules/')) return undefined;
  if (part !== importedPart && importedPart.startsWith('packages/')) {
    return 'import a package by its name';
  }
  if (part !== importedPart && part.includes('/')) {
    return `${part} must not import files outside its folder; share test helpers in test-support`;
  }
  const folder = dirname(file);
  if (!SOURCES.test(folder) || imported.endsWith('.json')) return undefined;
  const folders = FOLDERS[folder]?.map((name) => join(folder, name));
  if (folders === undefined) return `add the folder ${folder} to ${TABLE}`;
  if ([folder, ...folders].includes(dirname(imported))) return undefined;
  const names = folders.length === 0 ? 'no other folder' : folders.join(', ');
  return `${folder} may import ${names}; move the code or change ${TABLE}`;
}

/** Returns the part of the repository that a file belongs to: a package, an example or a folder. */
function partOf(file: string): string {
  const [folder = '', name = ''] = file.split('/');
  // Another start of the plant store, with its handlers.
  if (file.startsWith('examples/eov/')) return 'src';
  return folder === 'packages' || folder === 'examples' ? `${folder}/${name}` : folder;
}

if (import.meta.main) checkFiles(['*.ts', '*.js'], forbiddenImports);
