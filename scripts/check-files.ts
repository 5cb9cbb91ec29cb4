import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Prints the findings in the files that git lists for pathspecs. Exits with 1 if there are any. */
export function checkFiles(
  pathspecs: readonly string[],
  findingsIn: (file: string, text: string) => readonly string[],
): void {
  const list = execFileSync('git', ['ls-files', '-z', ...pathspecs], { encoding: 'utf8' });
  // Git also lists files that were deleted but not committed yet.
  const files = list.split('\0').filter((file) => existsSync(file));
  const findings = files.flatMap((file) => findingsIn(file, readFileSync(file, 'utf8')));
  for (const finding of findings) console.error(finding);
  process.exitCode = findings.length > 0 ? 1 : 0;
}
