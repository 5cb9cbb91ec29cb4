import type { RequestHandler } from 'express';
import { checkDocument, type Document, DocumentError, type Json, loadDocument, type Operation } from 'openapi-document';
import type { AnyHandler, Log } from '../handlers/types.ts';
import type { AccessLogOptions } from '../http/access-log.ts';
import { PROBLEM_DETAILS } from '../http-server/index.ts';
import { completeHandlers, type WhenMissing } from '../response/complete-handlers.ts';
import type { ErrorBody } from '../response/failures.ts';
import { schemesOf, unverified, type Verifiers } from '../security/schemes.ts';
import { type Authenticator, createAuthenticator } from '../security/tokens.ts';
import type { Reading } from '../validation/rewrite.ts';
import { createPathValidators } from '../validation/validator.ts';

/** What an app is made of. */
export interface AppOptions extends Pick<AccessLogOptions, 'trustProxy' | 'observe' | 'slowMs'> {
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
  /** Aborted when the service stops. Event streams end then. */
  readonly stopping?: AbortSignal;
  /** Whether the document and its page are served. By default they are. */
  readonly docs?: boolean;
  /** Resolves if the service can do its work, for `GET /readyz`. */
  readonly ready?: () => Promise<void>;
  /** Express middleware and routers that run before the operations. */
  readonly use?: readonly RequestHandler[] | undefined;
}

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => SILENT };

/** How many findings are logged with their places. `spec-first generate --all` shows all. */
const FEW = 10;

/**
 * Prepares a document and what its operations need. Checks that the document, the handlers and the error body fit each
 * other, and logs what is not enforced.
 *
 * @throws {DocumentError} if they do not.
 */
export async function prepare(options: AppOptions) {
  const { errorBody = PROBLEM_DETAILS, bodyLimit = 100 * 1024, log = SILENT, stopping } = options;
  const { missing = 'refuse', inDevelopment = false } = options;
  const document = typeof options.document === 'string' ? await loadDocument(options.document) : options.document;
  const { root, operations: all, securitySchemes } = document;
  const tokens = options.authenticator ?? (await createAuthenticator({ accessTokens: options.accessTokens ?? [] }));
  const schemes = schemesOf(securitySchemes, tokens, options.verifiers, [options.corsOrigins ?? []].flat());
  const { problems, broken, notices } = checkDocument(document);
  const operations = all.filter(({ id }) => !broken.has(id));

  const byVersion = document.version.startsWith('3.0') ? 'drop' : 'reject';
  const { readOnly = byVersion, discriminator = 'selects' } = options;
  const validatorOf = validatorsOf(root, operations, { readOnly, discriminator });
  const given = await options.handlers;
  const served = Object.fromEntries(Object.entries(given).filter(([id]) => !broken.has(id)));
  const { handlers, findings, samplesFor } = await completeHandlers(document, operations, served, missing, {
    validatorOf,
    errorBody,
  });
  const mocks = missing === 'mock';
  const handled = operations.filter(({ id }) => !mocks || (Object.hasOwn(given, id) && given[id] !== undefined));
  const isRefused = (id: string) => options.strict === true || (!mocks && Object.hasOwn(given, id));
  const refused = [...broken].flatMap(([id, reasons]) => (isRefused(id) ? reasons : []));
  const faults = [...problems, ...refused, ...unverified(handled, schemes), ...findings];
  if (faults.length > 0) throw new DocumentError(document.describe(faults));
  const reasons = new Map([...broken].map(([id, found]) => [id, document.describe(found)]));
  for (const [operationId, reason] of reasons) {
    log.warn({ operationId, locations: reason.split('\n') }, `${operationId} cannot be served and answers 501`);
  }
  // `npm run dev` shows them.
  if (!inDevelopment && notices.length > 0) {
    const locations = document.describe(notices.slice(0, FEW)).split('\n');
    const more = notices.length > FEW ? notices.length - FEW : undefined;
    log.warn({ locations, more }, 'not all of the document is enforced');
  }
  const shared = { handlers, samplesFor, validatorOf, schemes, errorBody, bodyLimit, stopping, log, broken: reasons };
  return { operations: all, context: { document, ...shared } };
}

/** What the operations of an app share. */
export type AppContext = Awaited<ReturnType<typeof prepare>>['context'];

/** Finds the validator of an operation. Those of one path are made together, when the first of them is asked for. */
function validatorsOf(root: Json, operations: readonly Operation[], reading: Reading) {
  const paths = Map.groupBy(operations, ({ path }) => path);
  const made = new Map<string, ReturnType<typeof createPathValidators>>();
  return (operation: Operation) => {
    const { path } = operation;
    const validators = made.get(path) ?? createPathValidators(root, paths.get(path) ?? [], reading);
    made.set(path, validators);
    const validator = validators.get(operation);
    if (validator === undefined) throw new Error(`${operation.id} has no validator`);
    return validator;
  };
}
