import {
  type AnyHandler,
  createService,
  fetchHandler,
  parseJson,
  stringifyJson,
} from 'spec-first-server';
import { mapValues, type Schema } from './schemas.ts';

export const JSON_TYPE = 'application/json';

export interface Shape {
  readonly openapi?: string;
  readonly mediaTypes?: readonly string[];
}

/** Returns a document whose components are the bodies of a request and of a reply. */
export function documentOf(components: Readonly<Record<string, Schema>>, shape: Shape = {}) {
  const { openapi = '3.1.0', mediaTypes = [JSON_TYPE] } = shape;
  const schema = { $ref: '#/components/schemas/Root' };
  const content = Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema }]));
  const post = {
    operationId: 'send',
    requestBody: { required: true, content },
    responses: { 204: { description: 'accepted' } },
  };
  const get = { operationId: 'receive', responses: { 200: { description: 'it', content } } };
  return {
    openapi,
    info: { title: 'Values', version: '1.0.0' },
    paths: { '/': { post, get } },
    components: { schemas: components },
  };
}

/** The answers to a value: the status and the body that the handler or the client received. */
export interface Answers {
  readonly request: { readonly status: number; readonly body: string | undefined };
  readonly reply: { readonly status: number; readonly body: string | undefined };
}

/** Serves a document of {@link documentOf}. Returns a function that sends a value both ways. */
export async function serve(document: { readonly openapi: string }, mediaType = JSON_TYPE) {
  let received: unknown;
  let sent: unknown;
  const handlers: Record<string, AnyHandler> = {
    send({ body }) {
      received = body;
      return { status: 204 };
    },
    receive: () => ({ status: 200, body: sent, contentType: mediaType }),
  };
  const handle = fetchHandler(await createService(document, { handlers }));

  return async (value: unknown): Promise<Answers> => {
    const body = stringifyJson(value) ?? '';
    const headers = { 'Content-Type': mediaType };
    const post = new Request('http://localhost/', { method: 'POST', headers, body });
    const { status } = await handle(post);
    sent = parseJson(body);
    const reply = await handle(new Request('http://localhost/'));
    const text = await reply.text();
    return {
      request: { status, body: status === 204 ? sorted(received) : undefined },
      reply: { status: reply.status, body: reply.ok ? sorted(parseJson(text)) : undefined },
    };
  };
}

/** Returns a value as JSON with the members of each object in the order of their names. */
export const sorted = (value: unknown): string | undefined =>
  stringifyJson(withSortedMembers(value));

function withSortedMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedMembers);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return mapValues(Object.fromEntries(members), withSortedMembers);
}
