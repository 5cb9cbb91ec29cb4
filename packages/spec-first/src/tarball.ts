import { execFile } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { findPackageJSON } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** What is packed beside the sources, where a package has it. */
const BESIDE = ['README.md', 'LICENSE', 'templates'];

const COMPILER_OPTIONS = {
  target: 'ES2024',
  lib: ['ESNext'],
  module: 'NodeNext',
  types: ['node'],
  rootDir: '.',
  outDir: 'compiled',
  declaration: true,
  rewriteRelativeImportExtensions: true,
  noEmitOnError: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  resolveJsonModule: true,
  skipLibCheck: true,
  // Other packages of this repository are found as links. Their sources are no part of this one.
  preserveSymlinks: true,
};

/** The folder of an installed package. @throws {Error} if it is not installed. */
export function packageFolder(name: string): string {
  const manifest = findPackageJSON(name, import.meta.url);
  if (manifest === undefined) throw new Error(`The package ${name} is not installed`);
  return dirname(manifest);
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

/** Makes the compiled form of packages, each in a folder of its own name. */
async function compile(packages: readonly string[], target: string): Promise<void> {
  for (const path of packages) {
    const stage = join(target, basename(path));
    cpSync(join(path, 'src'), join(stage, 'src'), { recursive: true });
    for (const name of BESIDE) {
      const source = name === 'LICENSE' ? nearest(path, name) : join(path, name);
      if (source !== undefined && existsSync(source)) cpSync(source, join(stage, name), { recursive: true });
    }
    writeFileSync(join(stage, 'package.json'), compiledManifest(readFileSync(join(path, 'package.json'), 'utf8')));
  }
  const modules = nearest(packages[0] ?? '', 'node_modules');
  if (modules !== undefined) symlinkSync(modules, join(target, 'node_modules'), 'junction');
  const project = { compilerOptions: COMPILER_OPTIONS, include: ['*/src'] };
  writeFileSync(join(target, 'tsconfig.json'), JSON.stringify(project));

  const compiler = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
  try {
    await execute(process.execPath, [compiler, '--project', target], { cwd: target, maxBuffer: 2 ** 26 });
  } catch (error) {
    const output = error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error);
    throw new Error(`The packages do not compile:\n${output}`, { cause: error });
  }
  for (const path of packages) {
    const stage = join(target, basename(path));
    renameSync(join(target, 'compiled', basename(path), 'src'), join(stage, 'dist'));
    // What the code reads beside itself.
    const isBeside = (file: string) => !file.endsWith('.ts');
    cpSync(join(stage, 'src'), join(stage, 'dist'), { recursive: true, filter: isBeside });
    rmSync(join(stage, 'src'), { recursive: true });
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

/** A file or folder of this name beside a folder or above it. */
function nearest(folder: string, name: string): string | undefined {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  return folder === dirname(folder) || folder === sep ? undefined : nearest(dirname(folder), name);
}
