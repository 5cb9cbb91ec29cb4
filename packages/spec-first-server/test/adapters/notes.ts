import { withFiles } from 'test-support/documents';
import type { Call, CallEnd } from '../../src/core/call.ts';
import { createService, loadDocument, type Service } from '../../src/index.ts';

const DOCUMENT = `openapi: 3.2.0
info: { title: Notes, version: 1.0.0 }
paths:
  /notes:
    post:
      operationId: echo
      requestBody: { required: true, content: { application/octet-stream: {} } }
      responses: { '200': { description: ok, content: { application/octet-stream: {} } } }
    get:
      operationId: list
      responses: { '200': { description: ok, content: { application/jsonl: { itemSchema: { type: object } } } } }
    delete:
      operationId: remove
      responses:
        '204': { description: removed, headers: { Set-Cookie: { schema: { type: array, items: { type: string } } } } }
`;

export interface Notes extends Service {
  readonly ends: { readonly call: Call; readonly end: CallEnd }[];
}

/** Creates a service whose operation `list` streams these items. */
export async function createNotes(
  items: () => AsyncIterable<unknown> = async function* () {},
): Promise<Notes> {
  const service = await withFiles({ 'openapi.yaml': DOCUMENT }, async (folder) =>
    createService(await loadDocument(`${folder}/openapi.yaml`), {
      handlers: {
        echo: ({ body }) => ({ status: 200, body }),
        list: () => ({ status: 200, body: items() }),
        remove: () => ({ status: 204, headers: { 'Set-Cookie': ['a=1', 'b=2'] } }),
      },
    }),
  );
  const ends: Notes['ends'] = [];
  return {
    ...service,
    ends,
    end(call, record, end) {
      ends.push({ call, end });
      service.end(call, record, end);
    },
  };
}
