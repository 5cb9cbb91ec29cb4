import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { type Manifest, pageAddress } from './page-address.ts';

/** Contains the version of the last run. `npm install` keeps this folder; `npm ci` deletes it. */
const MARKER = 'node_modules/.cache/spec-first/version';

/** Returns a line with a link on the first run after an upgrade, otherwise `undefined`. */
export function upgradeNotice(tools: Manifest = manifest): string | undefined {
  const { version } = tools;
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
  const page = pageAddress('docs/upgrading.md', tools);
  return `spec-first was upgraded from ${former} to ${version}. See ${page}`;
}
