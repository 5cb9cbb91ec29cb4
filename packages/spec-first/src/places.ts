import { dirname, relative } from 'node:path';
import type { Document } from 'openapi-document';

/**
 * Returns `file:line` of each pointer: of one that the document lacks, the nearest around it. Paths
 * are relative to the folder of the document.
 *
 * @param name the name of the document's own file.
 */
export function linesOf(
  document: Document,
  pointers: readonly string[],
  name: string,
): Map<string, string> {
  const folder = dirname(document.file);
  const lines = new Map<string, string>();
  const findings = pointers.map((pointer, index) => ({ pointer, message: String(index) }));
  for (const text of document.describe(findings).split('\n')) {
    const [, file = '', line, index] = /^(.*):(\d+):\d+ (\d+)$/.exec(text) ?? [];
    const path = file === document.file ? name : relative(folder, file).replaceAll('\\', '/');
    lines.set(pointers[Number(index)] ?? '', `${path}:${line}`);
  }
  return lines;
}
