import { loadDocument, type Operation } from 'openapi-document';

export function documentOf(paths: object, components: object = {}) {
  const info = { title: 'Test', version: '1' };
  const document = { openapi: '3.1.0', info, paths, components };
  return loadDocument(document);
}

export function only([operation]: readonly Operation[]): Operation {
  if (operation === undefined) throw new Error('the document has no operation');
  return operation;
}
