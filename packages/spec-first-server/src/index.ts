import type { Express } from 'express';
import type { AppOptions } from './serve/app.ts';
import type { Variables } from './serve/configuration.ts';
import type { ServeOptions } from './serve/serve.ts';

export {
  type Codec,
  type Document,
  DocumentError,
  loadDocument,
  parseJson,
  stringifyJson,
  temporalFormats,
  UnreadableBody,
} from 'openapi-document';
export { expressHandler } from './adapters/express.ts';
export { type FetchHandler, type FetchOptions, fetchHandler } from './adapters/fetch.ts';
export { type NodeOptions, nodeListener } from './adapters/node/node-listener.ts';
export { unimplemented } from './core/bind-handlers.ts';
export type { Answer, Call, CallEnd, CallRecord } from './core/call.ts';
export type {
  AnyAround,
  AnyHandler,
  AnyReply,
  AnyRequest,
  AroundOf,
  Caller,
  HandlersOf,
  ReplyOf,
  RequestLog,
  RequestOf,
} from './core/handlers/types.ts';
export type { ServiceOptions } from './core/prepare.ts';
export {
  Forbidden,
  HttpError,
  type HttpErrorOptions,
  Unauthorized,
} from './core/response/http-error.ts';
export type { DeclaredProblem, ErrorBody, Problem } from './core/response/problem.ts';
export { ConfigError } from './core/security/config-error.ts';
export type { Credentials } from './core/security/places.ts';
export type { Verifiers, VerifyScheme } from './core/security/schemes.ts';
export {
  type Authenticator,
  type AuthSettings,
  randomToken,
} from './core/security/tokens.ts';
export { createService, type Service } from './core/service.ts';
export type { AppOptions } from './serve/app.ts';
export type { ValuesOf, Variable, Variables } from './serve/configuration.ts';
export type { ServeOptions } from './serve/serve.ts';
export type {
  Backend,
  DocumentParts,
  DocumentsBackend,
  OpenContext,
} from './serve/start-service.ts';

/**
 * Creates an Express app that serves a document, for tests and for other servers. Does not listen.
 *
 * @example
 * const app = await createApp({ document: 'openapi.yaml', handlers, accessTokens: ['secret'] });
 * app.listen(3000);
 *
 * @throws {DocumentError} if the document cannot be served, or does not fit the handlers.
 * @throws {ConfigError} if an access token or another setting of credentials is wrong.
 */
export async function createApp(options: AppOptions): Promise<Express> {
  // Imported here, since a service behind `nodeListener` needs neither this nor `serve`.
  const app = await import('./serve/app.ts');
  return app.createApp(options);
}

/**
 * Serves the document until a signal ends the process. Reads flags from the command line, and
 * variables from the environment and the file `.env`. Never rejects: an error at the start is
 * printed, and the process ends with exit code 1.
 *
 * @example
 * const getBook = ({ path }) => ({ status: 200, body: find(path.id) });
 * await serve({ open: { handlers: { getBook } } });
 */
export async function serve<V extends Variables = Record<never, never>>(
  options: ServeOptions<V>,
): Promise<void> {
  const server = await import('./serve/serve.ts');
  await server.serve(options);
}
