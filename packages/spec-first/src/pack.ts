import { mkdirSync } from 'node:fs';
import { command, UsageError } from './command.ts';
import { packageFolder, packPackages } from './tarball.ts';

/** The packages of this project that a new project depends on. */
export const PACKAGES = ['spec-first-server', 'spec-first', 'openapi-document', 'group-commit'] as const;

const USAGE = `Usage: spec-first pack [DIR]

Packs ${PACKAGES.slice(0, -1).join(', ')} and ${PACKAGES.at(-1)} into DIR (vendor by default), as NAME.tgz.
In a project that has older tarballs in vendor, replace them by these, then run:

  npm install ./vendor/*.tgz

  --help   show this`;

/** Packs the packages into a folder. Resolves to the exit code. */
export const run = command(USAGE, {}, async (_values, [folder = 'vendor', ...others]) => {
  if (others.length > 0) throw new UsageError('One folder is expected');
  await packAll(folder);
  console.log(`${PACKAGES.map((name) => `${name}.tgz`).join(', ')} written to ${folder}`);
  return 0;
});

/** Writes `NAME.tgz` of each package to a folder. @throws {Error} if a package is not installed or cannot be built. */
export async function packAll(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await packPackages(PACKAGES.map(packageFolder), folder);
}
