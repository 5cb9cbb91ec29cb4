import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadDocument, type Operation } from 'openapi-document';

export async function documentOf(paths: object, components: object = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'document-'));
  const file = join(folder, 'openapi.json');
  const info = { title: 'Test', version: '1' };
  writeFileSync(file, JSON.stringify({ openapi: '3.1.0', info, paths, components }));
  const document = await loadDocument(file);
  rmSync(folder, { recursive: true });
  return document;
}

export function only([operation]: readonly Operation[]): Operation {
  if (operation === undefined) throw new Error('the document has no operation');
  return operation;
}
