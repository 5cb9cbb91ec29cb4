import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import {
  type AnyHandler,
  type AnyReply,
  type AppOptions,
  type Authenticator,
  createApp,
  type ErrorBody,
  Forbidden,
  loadDocument,
  Unauthorized,
} from 'spec-first-server';
import request from 'supertest';

export { withFiles } from './files.ts';

/** Returns the path of a document of spec-first-server's tests. */
export const documentFile = (name: string): string =>
  fileURLToPath(new URL(`../../spec-first-server/test/documents/${name}`, import.meta.url));

/** Accepts the token `good` with all scopes, and `reader` without scopes. */
export const authenticator: Authenticator = {
  verify(token, scopes) {
    if (token === 'good') return { subject: 'someone', scopes: 'all' };
    if (token !== 'reader') throw new Unauthorized('The token is not valid');
    if (scopes.length > 0) throw new Forbidden(scopes);
    return { subject: 'reader', scopes: new Set() };
  },
  reload: async () => 0,
};

/** Error bodies as the documents of spec-first-server's tests declare them. */
const errorBody: ErrorBody = {
  make: ({ status, message }) => ({ error: status, message }),
  mediaType: 'application/json',
};

export const echo: AnyHandler = ({ path, query, header, cookie, contentType, body }) => ({
  status: 200,
  body: { path, query, header, cookie, contentType, body },
});

export type Options = Partial<Omit<AppOptions, 'document' | 'handlers'>>;

/** Creates an app for a document in this process. Returns it with a client and its log lines. */
export async function serve(
  source: AppOptions['document'],
  handlers: Readonly<Record<string, AnyHandler>>,
  options: Options = {},
) {
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'info' },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const document = await loadDocument(source);
  const app = await createApp({
    document,
    handlers,
    authenticator,
    log,
    errorBody,
    bodyLimit: 10_000,
    ...options,
  });
  return { app, client: request(app), lines, document };
}

/** Returns a handler that replies with the result of `script.next`, which a test replaces. */
export function scripted() {
  const script: { next: () => unknown } = { next: () => ({ status: 204 }) };
  const handler: AnyHandler = () => script.next() as AnyReply;
  return { script, handler };
}
