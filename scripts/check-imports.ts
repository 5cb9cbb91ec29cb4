/**
 * Checks imports: a folder may import only the folders that `FOLDERS` lists for it. Packages and
 * examples import each other by name. Biome checks that no files import each other in a cycle.
 *
 * Usage: node scripts/check-imports.ts. Exits with 1 if a rule is broken.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

type Imports = Readonly<Record<string, readonly string[]>>;

/** The other folders that each folder may import. The names are relative to the outer key. */
const FOLDERS: Readonly<Record<string, Imports>> = {
  src: {
    '.': ['stores', '../generated'],
    stores: [],
  },
  scripts: {
    '.': ['../src', '../src/stores'],
    bench: [],
    'bench/contenders': [],
  },
  'packages/create-spec-first/src': {
    '.': [],
  },
  'packages/group-commit/src': {
    '.': [],
    postgres: ['.'],
    sqlite: ['.'],
  },
  'packages/openapi-document/src': {
    '.': ['checks', 'document', 'json', 'parameters', 'sequences'],
    json: [],
    document: ['json', 'parameters', 'sequences'],
    parameters: ['document', 'json'],
    sequences: ['document', 'json', 'parameters'],
    checks: ['document', 'json'],
    client: ['document', 'json', 'parameters', 'sequences'],
    samples: ['.', 'document'],
  },
  'packages/spec-first/src': {
    '.': ['contract-tests', 'dev', 'diff'],
    'contract-tests': [],
    dev: ['.'],
    diff: ['.'],
  },
  'packages/spec-first-server/src': {
    '.': [
      'core',
      'core/handlers',
      'core/response',
      'core/security',
      'adapters',
      'adapters/node',
      'serve',
    ],
    'core/handlers': [],
    'core/validation': [],
    'core/response': ['core', 'core/handlers', 'core/validation'],
    'core/security': ['core/handlers', 'core/response'],
    'core/request': ['core', 'core/handlers', 'core/response', 'core/validation'],
    core: ['core/handlers', 'core/request', 'core/response', 'core/security', 'core/validation'],
    'adapters/node': ['core', 'core/response'],
    adapters: ['adapters/node', 'core', 'core/response'],
    'serve/page': [],
    serve: [
      'serve/page',
      'adapters',
      'adapters/node',
      'core',
      'core/handlers',
      'core/request',
      'core/response',
      'core/security',
    ],
  },
};

const TABLE = 'FOLDERS in scripts/check-imports.ts';
const ALLOWED = new Map(
  Object.entries(FOLDERS).flatMap(([root, folders]) =>
    Object.entries(folders).map(([folder, imports]) => [
      join(root, folder),
      imports.map((name) => join(root, name)),
    ]),
  ),
);

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
  const root = Object.keys(FOLDERS).find((name) => file.startsWith(`${name}/`));
  if (root === undefined || imported.endsWith('.json')) return undefined;
  const folder = dirname(file);
  const folders = ALLOWED.get(folder);
  if (folders === undefined) return `add the folder ${folder} to ${TABLE}`;
  if ([folder, ...folders].includes(dirname(imported))) return undefined;
  const names = folders.length === 0 ? 'no other folder' : folders.join(', ');
  return `${folder} may import ${names}; move the code or change ${TABLE}`;
}

/** Returns the part of the repository that a file belongs to: a package, an example or a folder. */
function partOf(file: string): string {
  const [folder = '', name = ''] = file.split('/');
  return folder === 'packages' || folder === 'examples' ? `${folder}/${name}` : folder;
}

if (import.meta.main) {
  const list = execFileSync('git', ['ls-files', '-z', '*.ts', '*.js'], { encoding: 'utf8' });
  // Git also lists files that were deleted but not committed yet.
  const files = list.split('\0').filter((file) => existsSync(file));
  const findings = files.flatMap((file) => forbiddenImports(file, readFileSync(file, 'utf8')));
  for (const finding of findings) console.error(finding);
  process.exitCode = findings.length > 0 ? 1 : 0;
}
