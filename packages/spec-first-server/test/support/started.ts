import { join } from 'node:path';
import { type Options, serve, withFiles } from '../../../../test/support/documents.ts';
import { DocumentError } from '../../src/document/document.ts';
import type { AnyHandler } from '../../src/document/handler-types.ts';

export const HEAD = 'openapi: 3.1.0\ninfo: { title: A, version: 1.0.0 }\n';
export const DONE = "responses: { '204': { description: done } }";
export const done: AnyHandler = () => ({ status: 204 });

/** Serves a document, or several files. Notices and errors have places relative to their folder. */
export async function started(
  files: string | Record<string, string>,
  handlers: Record<string, AnyHandler> = { a: done },
  options?: Options,
) {
  const all = typeof files === 'string' ? { 'openapi.yaml': HEAD + files } : files;
  return withFiles(all, async (folder) => {
    const relative = (text: string) => text.replaceAll(`${folder}/`, '');
    try {
      const { lines, client } = await serve(join(folder, 'openapi.yaml'), handlers, options);
      const notices = lines.flatMap(({ places }) => (Array.isArray(places) ? places.map(relative) : []));
      return { notices, client, lines, error: undefined };
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      return { notices: [], lines: [], error: relative(error.message) };
    }
  });
}

/** A document with one operation. */
export const operation = (members: string, path = '/a') =>
  `paths:\n  ${path}:\n    get:\n      operationId: a\n      ${members}\n      ${DONE}\n`;
/** A document with one schema. */
export const schema = (text: string) =>
  operation('parameters:\n        - { name: q, in: query, schema: { $ref: "#/components/schemas/S" } }') +
  `components:\n  schemas:\n    S: ${text}\n`;
