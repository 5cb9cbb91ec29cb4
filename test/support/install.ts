import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export type Lists = readonly ('dependencies' | 'devDependencies')[];

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Installs the dependencies of a project faster than npm: unpacks tarballs, and links all other
 * packages to those of this repository. A package can import only its own dependencies.
 *
 * @param target the folder of the new `node_modules`.
 */
export function install(project: string, lists: Lists, target = project): void {
  const manifest = manifestOf(project);
  const modules = join(target, 'node_modules');
  for (const [name, version] of lists.flatMap((list) =>
    Object.entries<string>(manifest[list] ?? {}),
  )) {
    if (version.startsWith('file:')) unpack(join(project, version.slice(5)), modules, name);
    else link(join(ROOT, 'node_modules', name), join(modules, name));
    for (const [command, path] of Object.entries<string>(
      manifestOf(join(modules, name)).bin ?? {},
    )) {
      link(join(modules, name, path), join(modules, '.bin', command));
    }
  }
}

function unpack(tarball: string, modules: string, name: string): void {
  const folder = join(modules, name);
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['xzf', tarball, '--strip-components=1', '-C', folder]);
  const { dependencies = {}, bin = {} } = manifestOf(folder);
  for (const path of Object.values<string>(bin)) chmodSync(join(folder, path), 0o755);
  for (const other of Object.keys(dependencies)) {
    const folders = [join(ROOT, 'packages', name, 'node_modules'), join(ROOT, 'node_modules')];
    const parent = existsSync(join(ROOT, 'packages', other))
      ? modules
      : folders.find((path) => existsSync(join(path, other)));
    link(join(parent ?? '', other), join(folder, 'node_modules', other));
  }
}

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

function link(to: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(to, path);
}
