/**
 * Packs the libraries as npm publishes them: `NAME-VERSION.tgz` with JavaScript, declarations and source maps. The
 * repository runs from TypeScript; Node reads none under node_modules.
 *
 * Usage: npm run pack -- [DIR]
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

/** The libraries, by the names of their folders. */
export const PACKAGES = [
  'create-spec-first',
  'group-commit',
  'openapi-document',
  'spec-first',
  'spec-first-server',
] as const;

/** Compiles and packs all libraries into a folder. Returns the file of each by its name. @throws {Error} of the compiler */
export function pack(folder: string): Map<string, string> {
  const stage = mkdtempSync(join(tmpdir(), 'pack-'));
  try {
    run(['tsc', '-p', 'packages/tsconfig.pack.json', '--outDir', join(stage, 'compiled')]);
    const { repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    for (const name of PACKAGES) {
      const source = join(ROOT, 'packages', name);
      const target = join(stage, name);
      cpSync(join(stage, 'compiled', name, 'src'), join(target, 'dist'), { recursive: true });
      // What the code reads beside itself.
      cpSync(join(source, 'src'), join(target, 'dist'), { recursive: true, filter: (path) => !path.endsWith('.ts') });
      for (const file of ['README.md', 'CHANGELOG.md', 'templates']) {
        if (existsSync(join(source, file))) cpSync(join(source, file), join(target, file), { recursive: true });
      }
      // Templates that the code imports, too.
      const imported = join(stage, 'compiled', name, 'templates');
      if (existsSync(imported)) cpSync(imported, join(target, 'templates'), { recursive: true });
      copyFileSync(join(ROOT, 'LICENSE'), join(target, 'LICENSE'));
      const manifest = publishedManifest(readFileSync(join(source, 'package.json'), 'utf8'));
      const complete = { ...manifest, repository: { ...repository, directory: `packages/${name}` } };
      writeFileSync(join(target, 'package.json'), `${JSON.stringify(complete, undefined, 2)}\n`);
    }
    mkdirSync(folder, { recursive: true });
    const folders = PACKAGES.map((name) => join(stage, name));
    const packed: { name: string; filename: string }[] = Object.values(
      JSON.parse(run(['npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', resolve(folder), ...folders])),
    );
    return new Map(packed.map(({ name, filename }) => [name, join(folder, filename)]));
  } finally {
    rmSync(stage, { recursive: true });
  }
}

function run([program = '', ...args]: readonly string[]): string {
  const command = program === 'npm' ? 'npm' : join(ROOT, 'node_modules/.bin', program);
  const options = { cwd: ROOT, encoding: 'utf8', shell: process.platform === 'win32', maxBuffer: 2 ** 26 } as const;
  return execFileSync(command, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** A package.json whose paths lead to compiled code: `./src/*.ts` becomes `./dist/*.js`, in `exports` with its types. */
export function publishedManifest(text: string): Record<string, unknown> {
  const manifest: Record<string, unknown> = JSON.parse(text);
  const compiled = (path: string, extension: string) =>
    path.replace(/^(\.\/)?src\/(.*)\.[jt]s$/, `$1dist/$2${extension}`);
  const rewrite = (value: unknown, types: boolean): unknown => {
    if (typeof value === 'string') {
      const code = compiled(value, '.js');
      return types && value.endsWith('.ts') ? { types: compiled(value, '.d.ts'), default: code } : code;
    }
    if (Array.isArray(value)) return value.map((item) => rewrite(item, types));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rewrite(item, types)]));
  };
  for (const field of ['exports', 'bin', 'sideEffects']) {
    if (manifest[field] !== undefined) manifest[field] = rewrite(manifest[field], field === 'exports');
  }
  return { ...manifest, files: ['dist', 'templates', 'CHANGELOG.md'] };
}

if (import.meta.main) {
  for (const [name, file] of pack(process.argv[2] ?? 'build')) console.log(`${name}: ${file}`);
}
