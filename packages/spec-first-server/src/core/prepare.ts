import {
  type Codec,
  Codecs,
  checkDocument,
  type Document,
  DocumentError,
  type DocumentSource,
  type Formats,
  loadDocument,
  type MediaType,
  mediaTypesOf,
  type Operation,
} from 'openapi-document';
import type { Resources } from '../http/resources.ts';
import { type AccessLogOptions, SILENT } from './access-log.ts';
import {
  type Binding,
  bindHandlers,
  type PartialHandlers,
  type WhenMissing,
} from './bind-handlers.ts';
import type { Endpoint } from './call.ts';
import { declaredNames, shownPath } from './declared-names.ts';
import type { AnyAround, Log } from './handlers/types.ts';
import type { RecordOptions } from './record.ts';
import type { FailureContext } from './response/failures.ts';
import { type ErrorBody, PROBLEM_DETAILS } from './response/problem.ts';
import { unverifiedSchemes } from './security/requirements.ts';
import {
  authenticatorFor,
  type Schemes,
  schemesOf,
  unusedVerifiers,
  type Verifiers,
} from './security/schemes.ts';
import type { Authenticator, AuthSettings } from './security/tokens.ts';
import { createValidators, type OperationValidator } from './validation/validator.ts';

/** The options of `createService`. */
export interface ServiceOptions extends AccessLogOptions, RecordOptions {
  /** Paths beside those of the document, such as health probes. By default none. */
  readonly endpoints?: ReadonlyMap<string, Endpoint>;
  /** By operationId: the generated `Handlers`. */
  readonly handlers: PartialHandlers;
  /**
   * Runs before and after each handler: for limits per caller, transactions, or caching. The
   * members of an object that it passes to `next` are added to the request of the handler.
   */
  readonly around?: AnyAround | undefined;
  /** Makes the body of every error response. By default problem details (RFC 9457). */
  readonly errorBody?: ErrorBody | undefined;
  /** The accepted bearer tokens and API keys, written as in ACCESS_TOKENS. */
  readonly accessTokens?: readonly string[];
  /** The settings of tokens, including signed tokens and a file of tokens. */
  readonly security?: AuthSettings;
  /** Replaces `accessTokens` and `security`. */
  readonly authenticator?: Authenticator;
  /**
   * Verifiers of credentials, by the name of the security scheme. Required for credentials that are
   * not tokens. For a scheme with tokens, a verifier replaces the check of the tokens.
   */
  readonly verifiers?: Verifiers | undefined;
  /**
   * Other origins whose pages may authenticate with cookies in methods such as POST. By default
   * none. Cookies are accepted from all origins in GET, HEAD and OPTIONS.
   */
  readonly trustedOrigins?: readonly string[];
  /** Receives all log lines. By default nothing is logged. */
  readonly log?: Log;
  /**
   * True in development. Logs the first member that is removed from the replies of each operation,
   * and the paths of requests without an operation, which may contain secrets. Does not log
   * findings, since `npm run dev` prints them. By default false.
   */
  readonly inDevelopment?: boolean;
  /**
   * The maximum number of bytes of a body, also after decompression, unless the document has
   * another limit. By default 100 KiB.
   */
  readonly bodyLimit?: number;
  /**
   * Formats besides those of OpenAPI and JSON Schema, checked in requests and replies:
   * `{ iban: (text) => isIban(text) }`. With `type`, `parse` and `stringify`, handlers get and
   * return values of a type, such as {@link temporalFormats}.
   */
  readonly formats?: Formats | undefined;
  /** Formats of bodies besides those of OpenAPI, such as CBOR. */
  readonly codecs?: readonly Codec[] | undefined;
  /** The treatment of operations without a handler. By default the start fails. */
  readonly missing?: WhenMissing;
  /**
   * Fails the start if any operation has an error in the document. By default, only errors of
   * operations with a handler fail it, and none if `missing` is `mock`. Other operations with an
   * error respond with 501.
   */
  readonly strict?: boolean;
  /** The methods that the server can read, in upper case. By default all. */
  readonly methods?: readonly string[];
  /** Aborted when the service stops. Ends event streams. */
  readonly stopping?: AbortSignal;
  /** The `resources` of another service of this process, to share them. By default its own. */
  readonly resources?: Resources;
}

/** The maximum number of findings that are logged. `spec-first generate --all` shows all. */
const MAX_LISTED = 10;

/** The values that the operations of a service share. */
export interface ServiceContext {
  readonly document: Document;
  readonly bindings: ReadonlyMap<string, Binding>;
  /** The ids of operations that cannot be served. */
  readonly broken: readonly string[];
  readonly validatorOf: (operation: Operation) => OperationValidator;
  readonly schemes: Schemes;
  readonly around: AnyAround | undefined;
  readonly failures: FailureContext;
  readonly bodyLimit: number;
  readonly stopping: AbortSignal | undefined;
  readonly log: Log;
}

/**
 * Loads the document, and creates the validators, security schemes and handlers of its operations.
 * Logs the findings of the document.
 *
 * @throws {DocumentError} if the document is invalid, or does not fit the handlers.
 * @throws {ConfigError} if a setting of tokens is wrong.
 */
export async function prepare(
  source: DocumentSource,
  options: ServiceOptions,
): Promise<{ readonly operations: readonly Operation[]; readonly context: ServiceContext }> {
  const { errorBody = PROBLEM_DETAILS, bodyLimit = 100 * 1024, log = SILENT, stopping } = options;
  const { missing = 'refuse', strict = false, inDevelopment = false, around, formats } = options;
  const { verifiers, trustedOrigins } = options;
  const document = await loadDocument(source, { formats });
  const settings = { accessTokens: options.accessTokens, ...options.security };
  const authenticator =
    options.authenticator ?? (await authenticatorFor([{ document, verifiers }], settings, log));
  const schemes = schemesOf(document.securitySchemes, authenticator, verifiers, trustedOrigins);
  const codecs = new Codecs(options.codecs);
  const { problems, broken, notices } = checkDocument(document, codecs);
  const reasons = new Map(
    [...broken].map(([id, findings]) => [id, document.describe(findings)] as const),
  );
  const operations = document.operations.filter(({ id }) => !broken.has(id));
  const { schemas } = document;
  const errorTypes = [errorBody, PROBLEM_DETAILS].map(({ mediaType }) => ({ type: mediaType }));
  await codecs.load([...operations.flatMap(mediaTypesOf), ...errorTypes]);
  const names = declaredNames(document);
  const validatorOf = createValidators(schemas, {
    codecs,
    shownPath: (path) => shownPath(path, names),
    onDrop: inDevelopment ? firstDropLogger(log) : undefined,
  });
  const { bindings, findings } = await bindHandlers(document, reasons, options.handlers, missing, {
    schemas,
    codecs,
    validatorOf,
    errorBody,
  });

  const bindingOf = (id: string) => bindings.get(id);
  const isRejected = (id: string) => strict || (missing !== 'mock' && bindingOf(id)?.isHandled);
  const rejected = [...broken].flatMap(([id, findings]) => (isRejected(id) ? findings : []));
  /** Mocks accept any credentials. */
  const verified = operations.filter(({ id }) => {
    const binding = bindingOf(id);
    return binding?.samples === undefined && binding?.isPassed === false;
  });
  const errors = [
    ...problems,
    ...rejected,
    ...unverifiedSchemes(verified, schemes),
    ...unusedVerifiers(schemes, verifiers),
    ...findings,
  ];
  if (errors.length > 0) throw new DocumentError(document.describe(errors));

  // `npm run dev` shows errors and notices.
  for (const [operationId, reason] of inDevelopment ? [] : reasons) {
    if (bindingOf(operationId)?.isPassed) continue;
    const locations = reason.split('\n');
    log.warn({ operationId, locations }, `${operationId} cannot be served and responds with 501`);
  }
  if (!inDevelopment && notices.length > 0) {
    const merged = document.merge(notices, MAX_LISTED);
    const locations = document.describe(merged.slice(0, MAX_LISTED)).split('\n');
    const unlisted = merged.length > MAX_LISTED ? merged.length - MAX_LISTED : undefined;
    log.warn(
      { locations, unlisted },
      'some parts of the document are corrected, ignored or not checked',
    );
  }
  const hasFiles = (media: MediaType) => codecs.of(media).unit === 'parts';
  if (operations.some(({ requestBody }) => requestBody?.media.some(hasFiles))) {
    const { removeDeadUploads } = await import('./request/upload-folders.ts');
    removeDeadUploads(log);
  }
  return {
    operations: withReadMethods(document.operations, options.methods, log),
    context: {
      document,
      bindings,
      broken: [...broken.keys()],
      validatorOf,
      schemes,
      around,
      failures: { errorBody, codecs, names },
      bodyLimit,
      stopping,
      log,
    },
  };
}

function withReadMethods(
  operations: readonly Operation[],
  methods: readonly string[] | undefined,
  log: Log,
): readonly Operation[] {
  if (methods === undefined) return operations;
  return operations.filter(({ method, path }) => {
    const name = method.toUpperCase();
    const isRead = methods.includes(name);
    if (!isRead) log.warn(`${name} ${path} cannot be served: the server cannot read ${name}`);
    return isRead;
  });
}

function firstDropLogger(log: Log): (operation: Operation, name: string) => void {
  const logged = new Set<string>();
  return ({ id: operationId }, member) => {
    if (logged.has(operationId)) return;
    logged.add(operationId);
    const reason = 'the document does not declare it, or declares it writeOnly';
    log.warn({ operationId, member }, `${operationId} responds without ${member}: ${reason}`);
  };
}
