import { execFile } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { findPackageJSON } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

const COMPILER_OPTIONS = {
  target: 'ES2024',
  lib: ['ESNext'],
  module: 'NodeNext',
  types: ['node'],
  declaration: true,
  rewriteRelativeImportExtensions: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  resolveJsonModule: true,
  skipLibCheck: true,
};

/** The folder of an installed package. @throws {Error} if it is not installed. */
export function packageFolder(name: string): string {
  const manifest = findPackageJSON(name, import.meta.url);
  if (manifest === undefined) throw new Error(`The package ${name} is not installed`);
  return dirname(realpathSync(manifest));
}

/**
 * Packs packages into tarballs that can be installed: `NAME.tgz` in a folder. Their TypeScript is compiled in a temporary
 * folder, in one run. A package that is compiled already is packed as it is.
 *
 * @param packages their folders.
 * @throws {Error} if one does not compile.
 */
export async function packPackages(packages: readonly string[], folder: string): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'pack-'));
  try {
    const sources = packages.filter((path) => existsSync(join(path, 'src')));
    if (sources.length > 0) await compile(sources, temporary);
    const built = packages.map((path) => (sources.includes(path) ? join(temporary, basename(path)) : path));
    const pack = ['pack', ...built, '--ignore-scripts', '--pack-destination', temporary];
    await execute('npm', pack, { cwd: temporary, shell: process.platform === 'win32', maxBuffer: 2 ** 26 });
    for (const path of built) {
      const { name, version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
      copyFileSync(join(temporary, `${name}-${version}.tgz`), join(folder, `${name}.tgz`));
    }
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

/** Makes the compiled form of packages that are beside each other, each in a folder of its own name. */
async function compile(packages: readonly string[], target: string): Promise<void> {
  const { default: ts } = await import('typescript');
  const beside = dirname(packages[0] ?? '');
  const own = { rootDir: beside, outDir: target, typeRoots: [dirname(packageFolder('@types/node'))] };
  const { options } = ts.convertCompilerOptionsFromJson({ ...COMPILER_OPTIONS, ...own }, '');
  const sources = packages.flatMap((path) => globSync(join(path, 'src/**/*.ts')));
  const program = ts.createProgram(sources, options);
  const problems = ts.getPreEmitDiagnostics(program);
  if (problems.length > 0) {
    throw new Error(`The packages do not compile:\n${ts.formatDiagnostics(problems, ts.createCompilerHost(options))}`);
  }
  program.emit();
  for (const path of packages) {
    const stage = join(target, basename(path));
    renameSync(join(stage, 'src'), join(stage, 'dist'));
    // What the code reads beside itself.
    const isData = (file: string) => !file.endsWith('.ts');
    cpSync(join(path, 'src'), join(stage, 'dist'), { recursive: true, filter: isData });
    for (const source of ['README.md', 'templates', '../../LICENSE'].map((name) => join(path, name))) {
      if (existsSync(source)) cpSync(source, join(stage, basename(source)), { recursive: true });
    }
    writeFileSync(join(stage, 'package.json'), compiledManifest(readFileSync(join(path, 'package.json'), 'utf8')));
  }
}

/** The package.json for compiled code: each path to `src/*.ts` leads to `dist/*.js`, in `exports` with its types. */
export function compiledManifest(text: string): string {
  const manifest: Record<string, unknown> = JSON.parse(text);
  const compiled = (path: string, extension: string) =>
    path.replace(/^(?:\.\/)?src\/(.*)\.[jt]s$/, `./dist/$1${extension}`);
  const rewrite = (value: unknown, types: boolean): unknown => {
    if (typeof value === 'string') {
      const code = compiled(value, '.js');
      return types && value.endsWith('.ts') ? { types: compiled(value, '.d.ts'), default: code } : code;
    }
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rewrite(item, types)]));
  };
  for (const field of ['exports', 'imports', 'bin']) {
    if (manifest[field] !== undefined) manifest[field] = rewrite(manifest[field], field !== 'bin');
  }
  return `${JSON.stringify({ ...manifest, files: ['dist', 'templates'] }, undefined, 2)}\n`;
}
