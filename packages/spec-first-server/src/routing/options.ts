import type { RequestHandler } from 'express';
import type { Document } from 'openapi-document';
import type { AnyHandler, Log } from '../handlers/types.ts';
import type { Observe, TrustProxy } from '../http/access-log.ts';
import type { WhenMissing } from '../response/complete-handlers.ts';
import type { ErrorBody } from '../response/failures.ts';
import type { Verifiers } from '../security/schemes.ts';
import type { Authenticator } from '../security/tokens.ts';
import type { Reading } from '../validation/rewrite.ts';

/** What an app is made of. */
export interface AppOptions {
  /** An OpenAPI 3.1 document, or its file. */
  readonly document: Document | string;
  /** By operationId: the generated `Handlers`. A promise is awaited after the document is checked. */
  readonly handlers: Readonly<Record<string, AnyHandler>> | Promise<Readonly<Record<string, AnyHandler>>>;
  /** The form of every failure's body. By default problem details (RFC 9457). */
  readonly errorBody?: ErrorBody | undefined;
  /** The accepted bearer tokens and API keys: in plain text, or `sha256:` and the hex digits of their digest. */
  readonly accessTokens?: readonly string[];
  /** Takes the place of `accessTokens`: for signed tokens, and for tokens that change. */
  readonly authenticator?: Authenticator;
  /** How credentials are checked of the security schemes that tokens do not cover, by the scheme's name. */
  readonly verifiers?: Verifiers | undefined;
  /** By default silent. */
  readonly log?: Log;
  /**
   * Whether a developer tries the app. Then the log has each path that was asked for, also unknown ones, which may hold a
   * secret, and leaves out what is not enforced, which `npm run dev` shows; requests to names of other hosts are rejected,
   * as a page could lead its own name to this machine. By default not.
   */
  readonly inDevelopment?: boolean;
  /** The most bytes of a body, also after decompression. By default 100 KiB. */
  readonly bodyLimit?: number;
  /** What becomes of read-only members of a request. By default they are rejected; dropped in a document of OpenAPI 3.0. */
  readonly readOnly?: Reading['readOnly'] | undefined;
  /** Whether a discriminator selects the one alternative that is validated. By default it does. */
  readonly discriminator?: Reading['discriminator'] | undefined;
  /** What becomes of operations without a handler. By default the start fails. */
  readonly missing?: WhenMissing;
  /** Whether the start fails if an operation cannot be enforced. By default such an operation answers 501. */
  readonly strict?: boolean;
  /** The origins whose pages may call, such as `https://app.example`; `*` for all. By default none. */
  readonly corsOrigins?: '*' | readonly string[];
  /** Express's `trust proxy`: which proxies tell a client's address, for the log. By default none. */
  readonly trustProxy?: TrustProxy;
  /** Aborted when the service stops. Event streams end then. */
  readonly stopping?: AbortSignal;
  /** Whether the document and its page are served. By default they are. */
  readonly docs?: boolean;
  /** Resolves if the service can do its work, for `GET /readyz`. */
  readonly ready?: () => Promise<void>;
  /** Express middleware and routers that run before the operations. */
  readonly use?: readonly RequestHandler[] | undefined;
  /** Is told of each answer, for metrics. */
  readonly observe?: Observe | undefined;
  /** Milliseconds after which an answer is logged as slow; never by default. */
  readonly slowMs?: number | undefined;
}

export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => SILENT };
