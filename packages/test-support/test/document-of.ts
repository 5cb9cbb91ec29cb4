import { join } from 'node:path';
import { type Document, loadDocument } from 'openapi-document';
import { withFiles } from './files.ts';

export const documentOf = (text: string): Promise<Document> =>
  withFiles({ 'openapi.yaml': text }, (folder) => loadDocument(join(folder, 'openapi.yaml')));

/** Returns a document with a title, a version and the given members. */
export function documentWith(members: object): Promise<Document> {
  const root = { openapi: '3.1.0', info: { title: 'Garden', version: '1.0.0' }, ...members };
  return loadDocument(root);
}
