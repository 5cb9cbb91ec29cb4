/**
 * Packs the libraries as npm publishes them: `NAME-VERSION.tgz` with JavaScript, declarations and
 * source maps. Node does not run TypeScript in node_modules. Removes tarballs of former versions.
 *
 * Usage: npm run pack -- [DIR]
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempDisposableSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

/** The URL of the repository. */
const REPOSITORY = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  .repository.url.replace(/^git\+/, '')
  .replace(/\.git$/, '');

/** The published libraries, by the names of their folders. */
export const PACKAGES = globSync('*/package.json', { cwd: join(ROOT, 'packages') })
  .filter((file) => !JSON.parse(readFileSync(join(ROOT, 'packages', file), 'utf8')).private)
  .map(dirname)
  .sort();

/**
 * Compiles and packs all libraries into a folder. Returns the tarballs by package name.
 *
 * @throws {Error} if the code does not compile.
 */
export function pack(folder: string): Map<string, string> {
  using temporary = mkdtempDisposableSync(join(tmpdir(), 'pack-'));
  const stage = temporary.path;
  const compiled = join(stage, 'compiled');
  run(
    join(ROOT, 'node_modules/.bin/tsc'),
    ...['-p', 'packages/tsconfig.pack.json', '--outDir', compiled],
  );
  for (const name of PACKAGES) {
    const source = join(ROOT, 'packages', name);
    const target = join(stage, name);
    const code = join(target, 'dist');
    cpSync(join(compiled, name, 'src'), code, { recursive: true });
    // Files that the code reads at run time.
    cpSync(join(source, 'src'), code, {
      recursive: true,
      filter: (path) => !path.endsWith('.ts'),
    });
    for (const file of globSync('{CHANGELOG.md,templates}', { cwd: source })) {
      cpSync(join(source, file), join(target, file), { recursive: true });
    }
    copyPage(`packages/${name}/README.md`, stage);
    cpSync(join(ROOT, 'LICENSE'), join(target, 'LICENSE'));
    const manifest = {
      ...publishedManifest(readFileSync(join(source, 'package.json'), 'utf8')),
      repository: { type: 'git', url: `git+${REPOSITORY}.git`, directory: `packages/${name}` },
    };
    writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  }
  cpSync(join(ROOT, 'docs/operating'), join(stage, installedPath('docs/operating') ?? ''), {
    recursive: true,
  });
  for (const page of globSync('docs/*.md', { cwd: ROOT })) copyPage(page, stage);
  mkdirSync(folder, { recursive: true });
  removeTarballs(folder);
  const output = run(
    'npm',
    ...['pack', '--json', '--ignore-scripts', '--pack-destination', resolve(folder)],
    ...PACKAGES.map((name) => join(stage, name)),
  );
  const packed: { name: string; filename: string }[] = Object.values(JSON.parse(output));
  return new Map(packed.map(({ name, filename }) => [name, join(folder, filename)]));
}

function copyPage(page: string, stage: string): void {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const target = join(stage, installedPath(page) ?? '');
  mkdirSync(dirname(target), { recursive: true });
  const address = REPOSITORY.includes('/OWNER/') ? undefined : `${REPOSITORY}/blob/main`;
  writeFileSync(target, withInstalledLinks(page, text, address));
}

/**
 * Changes the links of a page of the repository to those of installed packages: the pages of `docs`
 * are in spec-first. Other files are only in the repository: without its address, they are named.
 */
export function withInstalledLinks(page: string, text: string, repository?: string): string {
  const folder = dirname(installedPath(page) ?? page);
  const links = /(!?)\[([^\]]*)\]\((?!\w+:|#)([^)#\s]+)(#[^)]*)?\)/g;
  return text.replaceAll(links, (_, mark: string, label: string, link: string, anchor = '') => {
    const file = posix.join(dirname(page), link);
    const installed = installedPath(file);
    if (installed !== undefined)
      return `${mark}[${label}](${posix.relative(folder, installed)}${anchor})`;
    if (repository !== undefined) return `${mark}[${label}](${repository}/${file}${anchor})`;
    return label.includes(file) ? label : `${label} (\`${file}\` of the repository)`;
  });
}

/** Returns the path of a page below `node_modules`, or `undefined` if no package has it. */
function installedPath(file: string): string | undefined {
  if (file.startsWith('docs/') && !file.endsWith('.png')) return `spec-first/${file}`;
  return /^packages\/([^/]+\/README\.md)$/.exec(file)?.[1];
}

/** Removes the tarballs of all versions of the libraries, so that `*.tgz` names one version. */
export function removeTarballs(folder: string): void {
  const patterns = PACKAGES.map((name) => `${name}-[0-9]*.tgz`);
  for (const file of globSync(patterns, { cwd: folder })) rmSync(join(folder, file));
}

function run(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, {
    cwd: ROOT,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    maxBuffer: 2 ** 26,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/**
 * Returns a package.json with the paths of compiled code: `./src/*.ts` becomes `./dist/*.js`. Each
 * of its `exports` gets its types.
 */
export function publishedManifest(text: string): Record<string, unknown> {
  const manifest = JSON.parse(text, (key, value) => {
    if (typeof value !== 'string') return value;
    const code = value.replace(/^(\.\/)?src\/(.*)\.[jt]s$/, '$1dist/$2.js');
    // Keys of exports start with a dot.
    return key.startsWith('.') && value.endsWith('.ts')
      ? { types: code.replace(/js$/, 'd.ts'), default: code }
      : code;
  });
  return { ...manifest, files: ['dist', 'templates', 'docs', 'CHANGELOG.md'] };
}

if (import.meta.main) {
  for (const [name, file] of pack(process.argv[2] ?? 'build')) console.log(`${name}: ${file}`);
}
