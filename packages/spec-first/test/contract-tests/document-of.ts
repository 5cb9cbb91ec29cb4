import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Document, loadDocument, type Operation, stringifyJson } from 'openapi-document';

/** Loads a document with these members. */
export async function documentOf(members: object): Promise<Document> {
  const folder = mkdtempSync(join(tmpdir(), 'document-'));
  const file = join(folder, 'openapi.json');
  const info = { title: 'Test', version: '1.0.0' };
  try {
    writeFileSync(file, String(stringifyJson({ openapi: '3.1.0', info, ...members })));
    return await loadDocument(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the operation with an id. */
export function operationIn({ operations }: Document, id: string): Operation {
  const operation = operations.find((other) => other.id === id);
  if (operation === undefined) throw new Error(`the document has no operation ${id}`);
  return operation;
}

/** Returns the content of a body in JSON with a schema. */
export const json = (schema: unknown) => ({ content: { 'application/json': { schema } } });
