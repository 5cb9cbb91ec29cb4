import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { asObject } from 'openapi-document';
import manifest from '../package.json' with { type: 'json' };

/** Contains the version of the last run. npm does not change this folder. */
const MARKER = 'node_modules/.cache/spec-first/version';

/** Returns a line with a link on the first run after an upgrade, otherwise `undefined`. */
export function upgradeNotice(version = manifest.version): string | undefined {
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
  const page = pageOf(manifest);
  return `spec-first was upgraded from ${former} to ${version}. See ${page}`;
}

/** The address of the page about upgrades. A published package.json names the repository. */
function pageOf(published: object): string {
  const { url } = asObject(asObject(published).repository);
  const repository = String(url ?? '')
    .replace(/^git\+/, '')
    .replace(/\.git$/, '/blob/main/');
  return `${repository}docs/upgrading.md`;
}
