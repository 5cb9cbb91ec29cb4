import { randomUUID } from 'node:crypto';
import type { Handlers } from '../generated/openapi.ts';
import type { Database, DocumentType } from './database.ts';
import { notFound } from './errors.ts';

export const documentHandlers = (
  database: Database,
): Pick<Handlers, 'uploadDocument' | 'downloadDocument'> => ({
  async uploadDocument({ path: { orderId }, body: { file, kind, title = null } }) {
    const row = {
      id: randomUUID(),
      orderId,
      kind,
      title,
      // The server rejects types that the OpenAPI document does not declare.
      contentType: file.type as DocumentType,
      size: file.size,
      content: new Uint8Array(await file.arrayBuffer()),
    };
    await database.insertInto('documents').values(row).execute();
    const headers = { Location: `/v1/documents/${row.id}` };
    return { status: 201, headers, body: { ...row, title: title ?? undefined } };
  },

  async downloadDocument({ path: { documentId } }) {
    const row = await database
      .selectFrom('documents')
      .selectAll()
      .where('id', '=', documentId)
      .executeTakeFirst();
    if (row === undefined) throw notFound('document');
    return {
      status: 200,
      contentType: row.contentType,
      headers: { 'Content-Disposition': `attachment; filename="${row.kind}-${row.id}"` },
      body: row.content,
    };
  },
});
