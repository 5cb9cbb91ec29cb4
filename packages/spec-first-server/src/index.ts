import './process/compile-cache.ts';

export { type Document, DocumentError, type Finding } from './document/document.ts';
export type {
  AnyHandler,
  AnyReply,
  AnyRequest,
  Caller,
  HandlersOf,
  ReplyOf,
  RequestOf,
} from './document/handler-types.ts';
export { loadDocument } from './document/load.ts';
export { parseJson, stringifyJson } from './json/exact.ts';
export type { Backend, OpenContext } from './process/backend.ts';
export { ConfigError } from './process/configuration.ts';
export { type ServeOptions, serve } from './process/serve.ts';
export type { ValuesOf, Variable, Variables } from './process/variables.ts';
export { HttpError, type HttpErrorOptions, Unavailable } from './response/http-error.ts';
export type { ErrorBody, Problem } from './response/problem.ts';
export { type AppOptions, createApp } from './routing/app.ts';
export type { Verifiers } from './security/schemes.ts';
export { Forbidden, Unauthorized } from './security/tokens.ts';
