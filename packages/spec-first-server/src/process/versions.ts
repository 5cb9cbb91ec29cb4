import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package's name and version; empty without a package.json that has them. */
function readPackage(folder: string): { readonly name?: string; readonly version?: string } {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  } catch {
    return {};
  }
}

/** The project in the working directory. */
export const project = readPackage('.');

/** The versions in use. */
export const versions = () => ({
  service: project.name ?? '',
  version: project.version ?? '',
  runtime: readPackage(join(import.meta.dirname, '../..')).version ?? '',
  node: process.versions.node,
});

/** The text of `--version`, such as `plants 1.0.0 (spec-first-server 1.0.0, Node 26.10.0)`. */
export function versionText(): string {
  const { service, version, runtime, node } = versions();
  return `${service} ${version} (spec-first-server ${runtime}, Node ${node})`;
}
