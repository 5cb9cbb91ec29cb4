import { execFile } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
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
  declaration: true,
  rewriteRelativeImportExtensions: true,
  noEmitOnError: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  resolveJsonModule: true,
  skipLibCheck: true,
};

/** The folder of an installed package. @throws {Error} if it is not installed. */
export function packageFolder(name: string): string {
  const manifest = findPackageJSON(name, import.meta.url);
  if (manifest === undefined) throw new Error(`The package ${name} is not installed`);
  return realpathSync(dirname(manifest));
}

/**
 * Packs packages into tarballs that can be installed: `NAME.tgz` in a folder. Their TypeScript is compiled in a temporary
 * folder, in one run. A package that is compiled already is packed as it is.
 *
 * @param packages their folders. Those with TypeScript lie side by side.
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
  const [first = ''] = packages;
  const compilerOptions = {
    ...COMPILER_OPTIONS,
    typeRoots: [join(nearest(first, 'node_modules') ?? '', '@types')],
    rootDir: dirname(first),
    outDir: target,
  };
  writeFileSync(
    join(target, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: packages.map((path) => join(path, 'src')) }),
  );
  const compiler = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
  try {
    await execute(process.execPath, [compiler, '--project', target], { maxBuffer: 2 ** 26 });
  } catch (error) {
    const output = error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error);
    throw new Error(`The packages do not compile:\n${output}`, { cause: error });
  }
  for (const path of packages) {
    const built = join(target, basename(path));
    renameSync(join(built, 'src'), join(built, 'dist'));
    // What the code reads beside itself.
    cpSync(join(path, 'src'), join(built, 'dist'), { recursive: true, filter: (file) => !file.endsWith('.ts') });
    writeFileSync(join(built, 'package.json'), compiledManifest(readFileSync(join(path, 'package.json'), 'utf8')));
    for (const name of BESIDE) {
      const source = name === 'LICENSE' ? nearest(path, name) : join(path, name);
      if (source !== undefined && existsSync(source)) cpSync(source, join(built, name), { recursive: true });
    }
  }
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

/** A file or folder of this name beside a folder or above it. */
function nearest(folder: string, name: string): string | undefined {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  return folder === dirname(folder) || folder === sep ? undefined : nearest(dirname(folder), name);
}
