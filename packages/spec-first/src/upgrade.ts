import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import manifest from '../package.json' with { type: 'json' };

/** Contains the version of the last run. `npm install` keeps this folder; `npm ci` deletes it. */
const MARKER = 'node_modules/.cache/spec-first/version';

/** Returns a line that names a page on the first run after an upgrade, otherwise `undefined`. */
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
  const page = 'node_modules/spec-first/docs/upgrading.md';
  return `spec-first was upgraded from ${former} to ${version}. See ${page}`;
}
