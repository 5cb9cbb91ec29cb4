import type { Express } from 'express';
import type { AppOptions } from './serve/app.ts';

export {
  type Document,
  DocumentError,
  loadDocument,
  parseJson,
  stringifyJson,
} from 'openapi-document';
export { expressHandler } from './adapters/express.ts';
export { type FetchHandler, type FetchOptions, fetchHandler } from './adapters/fetch.ts';
export { type NodeOptions, nodeListener } from './adapters/node/index.ts';
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
export type { Credentials, Verifiers, VerifyScheme } from './core/security/schemes.ts';
export {
  type Authenticator,
  type AuthSettings,
  randomToken,
} from './core/security/tokens.ts';
export { createService, type Service } from './core/service.ts';
export type { AppOptions } from './serve/app.ts';
export type { ValuesOf, Variable, Variables } from './serve/configuration.ts';
export { ConfigError } from './serve/configuration.ts';
export { type ServeOptions, serve } from './serve/serve.ts';
export type { Backend, OpenContext } from './serve/service.ts';

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
  // Imported here, so that `serve` can handle signals before the app is loaded.
  const app = await import('./serve/app.ts');
  return app.createApp(options);
}

// For the package `spec-first` only. These exports may change.

export type { StartMessage } from './serve/announce.ts';
export {
  hasCredentials,
  loadEnvFile,
  readConfig,
  readEnvFile,
  readVariables,
} from './serve/configuration.ts';
export { stopWithNpm } from './serve/stop.ts';
export { banner, type Started, shellQuoted } from './serve/terminal.ts';
