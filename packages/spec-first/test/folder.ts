import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Document, loadDocument } from 'openapi-document';

export type Files = Readonly<Record<string, string>>;

export function writeFiles(folder: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** Writes files to a new folder, calls a function with the folder, and removes the folder. */
export async function inFolder<T>(
  files: Files,
  use: (folder: string) => T | Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'spec-first-test-'));
  try {
    writeFiles(folder, files);
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const withDocument = <T>(
  members: object,
  use: (document: Document) => T | Promise<T>,
): Promise<T> => {
  const root = { openapi: '3.1.0', info: { title: 'Garden', version: '1.0.0' }, ...members };
  return inFolder({ 'openapi.json': JSON.stringify(root) }, async (folder) =>
    use(await loadDocument(join(folder, 'openapi.json'))),
  );
};
