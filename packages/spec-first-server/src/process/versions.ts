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

const { name: service = '', version = '' } = readPackage('.');
const { version: runtime = '' } = readPackage(join(import.meta.dirname, '../..'));

/** The versions in use: of the project in the working directory, and of what it runs on. */
export const versions = { service, version, runtime, node: process.versions.node };

/** The text of `--version`, such as `plants 1.0.0 (spec-first-server 1.0.0, Node 26.10.0)`. */
export const versionText = `${service} ${version} (spec-first-server ${runtime}, Node ${versions.node})`;
