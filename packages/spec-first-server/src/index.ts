import type { Express } from 'express';
import type { AppOptions } from './routing/prepare.ts';

export { type Document, DocumentError, loadDocument, parseJson, stringifyJson } from 'openapi-document';
export type {
  AnyHandler,
  AnyReply,
  AnyRequest,
  Caller,
  HandlersOf,
  ReplyOf,
  RequestLog,
  RequestOf,
} from './handlers/types.ts';
export type { Problem } from './http-server/index.ts';
export type { ValuesOf, Variable, Variables } from './process/configuration.ts';
export { ConfigError } from './process/configuration.ts';
export { type ServeOptions, serve } from './process/serve.ts';
export type { Backend, OpenContext } from './process/service.ts';
export type { DeclaredProblem, ErrorBody } from './response/failures.ts';
export { Forbidden, HttpError, type HttpErrorOptions, Unauthorized } from './response/http-error.ts';
export type { AppOptions } from './routing/prepare.ts';
export type { Credentials, Verifiers, VerifyScheme } from './security/schemes.ts';
export { type Authenticator, type AuthSettings, createAuthenticator, randomToken } from './security/tokens.ts';

/**
 * Makes the Express app that serves a document, for tests and for embedding. Opens no port.
 *
 * @example
 * const app = await createApp({ document: 'openapi.yaml', handlers, accessTokens: ['secret'] });
 * app.listen(3000);
 *
 * @throws {DocumentError} if the document cannot be served, or not with these handlers.
 */
export async function createApp(options: AppOptions): Promise<Express> {
  // Loaded when it is called: `serve` handles signals before it loads this.
  const app = await import('./routing/app.ts');
  return app.createApp(options);
}

// For tools: what follows is for the package `spec-first`, which starts servers. It may change.

export { hasCredentials, loadEnvFile, readConfig } from './process/configuration.ts';
export type { SupervisorMessage, WorkerMessage } from './process/messages.ts';
export { banner, type Started } from './process/terminal.ts';
