import { execFile } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { findPackageJSON } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
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
  rootDir: 'src',
  outDir: 'dist',
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
 * Packs a package into a tarball that can be installed. Its TypeScript is compiled in a temporary folder. A package that
 * is compiled already is packed as it is.
 *
 * @throws {Error} if it does not compile.
 */
export async function packPackage(folder: string, tarball: string): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'pack-'));
  try {
    const built = existsSync(join(folder, 'src')) ? await build(folder, join(temporary, 'package')) : folder;
    const pack = ['pack', built, '--ignore-scripts', '--json', '--pack-destination', temporary];
    await execute('npm', pack, { cwd: temporary, shell: process.platform === 'win32', maxBuffer: 2 ** 26 });
    const [packed] = readdirSync(temporary).filter((file) => file.endsWith('.tgz'));
    if (packed === undefined) throw new Error(`npm pack made no tarball of ${folder}`);
    copyFileSync(join(temporary, packed), tarball);
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

/** Makes the compiled form of a package in a new folder. */
async function build(folder: string, stage: string): Promise<string> {
  cpSync(join(folder, 'src'), join(stage, 'src'), { recursive: true });
  for (const name of BESIDE) {
    const source = name === 'LICENSE' ? nearest(folder, name) : join(folder, name);
    if (source !== undefined && existsSync(source)) cpSync(source, join(stage, name), { recursive: true });
  }
  writeFileSync(join(stage, 'package.json'), compiledManifest(readFileSync(join(folder, 'package.json'), 'utf8')));
  writeFileSync(join(stage, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['src'] }));
  linkModules(folder, stage);

  const compiler = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
  try {
    await execute(process.execPath, [compiler, '--project', stage], { cwd: stage, maxBuffer: 2 ** 26 });
  } catch (error) {
    const output = error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error);
    throw new Error(`${folder} does not compile:\n${output}`, { cause: error });
  }
  // What the code reads beside itself.
  cpSync(join(stage, 'src'), join(stage, 'dist'), { recursive: true, filter: (file) => !file.endsWith('.ts') });
  for (const name of ['src', 'node_modules', 'tsconfig.json']) rmSync(join(stage, name), { recursive: true });
  return stage;
}

/** The package.json for compiled code: each path to `src/*.ts` leads to `dist/*.js`, in `exports` with its types. */
export function compiledManifest(text: string): string {
  const manifest: Record<string, unknown> = JSON.parse(text);
  const compiled = (path: string, extension: string) =>
    path.replace(/^(?:\.\/)?src\/(.*)\.ts$/, `./dist/$1${extension}`);
  const rewrite = (value: unknown, types: boolean): unknown => {
    if (typeof value === 'string') {
      const code = compiled(value, '.js');
      return types && code !== value ? { types: compiled(value, '.d.ts'), default: code } : code;
    }
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rewrite(item, types)]));
  };
  for (const field of ['exports', 'imports', 'bin']) {
    if (manifest[field] !== undefined) manifest[field] = rewrite(manifest[field], field !== 'bin');
  }
  return `${JSON.stringify({ ...manifest, files: ['dist', 'templates'] }, undefined, 2)}\n`;
}

/** Lets the compiler find the dependencies of a package from another folder. */
function linkModules(folder: string, stage: string): void {
  const modules = nearest(folder, 'node_modules');
  if (modules !== undefined) symlinkSync(modules, join(stage, 'node_modules'), 'junction');
}

/** A file or folder of this name beside a folder or above it. */
function nearest(folder: string, name: string): string | undefined {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  return folder === dirname(folder) || folder === sep ? undefined : nearest(dirname(folder), name);
}
