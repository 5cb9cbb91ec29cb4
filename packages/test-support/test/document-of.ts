import { join } from 'node:path';
import { type Document, loadDocument } from 'openapi-document';
import { withFiles } from './files.ts';

export const documentOf = (text: string): Promise<Document> =>
  withFiles({ 'openapi.yaml': text }, (folder) => loadDocument(join(folder, 'openapi.yaml')));
