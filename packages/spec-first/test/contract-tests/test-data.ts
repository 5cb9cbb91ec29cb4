import {
  Codecs,
  type Document,
  loadDocument,
  mediaTypesOf,
  type Operation,
  Schemas,
  stringifyJson,
} from 'openapi-document';
import type { CheckedOperation } from '../../src/contract-tests/check-response.ts';

const codecs = new Codecs();

export async function documentOf(members: object): Promise<Document> {
  const root = { openapi: '3.1.0', info: { title: 'Test', version: '1.0.0' }, ...members };
  const document = await loadDocument(root);
  await codecs.load(document.operations.flatMap(mediaTypesOf));
  return document;
}

export function operationIn({ operations }: Document, id: string): Operation {
  const operation = operations.find((other) => other.id === id);
  if (operation === undefined) throw new Error(`the document has no operation ${id}`);
  return operation;
}

export const checkedOperation = ({ root }: Document, operation: Operation): CheckedOperation => ({
  schemas: new Schemas(root),
  codecs,
  operation,
});

export const json = (schema: unknown) => ({ content: { 'application/json': { schema } } });

/** @param body is sent as JSON if it is not text. */
export const responseOf = (
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body: unknown = '',
  url = 'http://rooms/',
) => ({
  ...{ url, status, headers, isCut: false },
  body: Buffer.from(typeof body === 'string' ? body : String(stringifyJson(body))),
});
