import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import manifest from '../package.json' with { type: 'json' };

/** Contains the version of the last run. npm does not change this folder. */
const MARKER = 'node_modules/.cache/spec-first/version';

/** The package.json of the tools. It has the address of the repository once it is published. */
interface Manifest {
  readonly version: string;
  readonly repository?: { readonly url: string };
}

/** Returns a line with a link on the first run after an upgrade, otherwise `undefined`. */
export function upgradeNotice({ version, repository }: Manifest = manifest): string | undefined {
  if (!existsSync('node_modules')) return undefined;
  const former = existsSync(MARKER) ? readFileSync(MARKER, 'utf8') : undefined;
  if (former === version) return undefined;
  try {
    mkdirSync(dirname(MARKER), { recursive: true });
    writeFileSync(MARKER, version);
  } catch {
    // The installation is read-only.
    return undefined;
  }
  if (former === undefined) return undefined;
  const files = repository?.url.replace(/^git\+/, '').replace(/\.git$/, '/blob/main/') ?? '';
  return `spec-first was upgraded from ${former} to ${version}. See ${files}docs/upgrading.md`;
}
