import { checkDocument, DocumentError, type Json, loadDocument, type Operation } from 'openapi-document';
import { PROBLEM_DETAILS } from '../http-server/index.ts';
import { completeHandlers } from '../response/complete-handlers.ts';
import { unverified } from '../security/requirements.ts';
import { schemesOf } from '../security/schemes.ts';
import { createAuthenticator } from '../security/tokens.ts';
import type { Reading } from '../validation/rewrite.ts';
import { createPathValidators } from '../validation/validator.ts';
import type { AppContext } from './dispatch.ts';
import { type AppOptions, SILENT } from './options.ts';

/** How many findings are logged with their places. `spec-first generate --all` shows all. */
const FEW = 10;

/**
 * Prepares a document and what its operations need. Checks that the document, the handlers and the error body fit each other, and logs what is not enforced.
 *
 * @throws {DocumentError} if they do not.
 */
export async function prepare(options: AppOptions) {
  const {
    errorBody = PROBLEM_DETAILS,
    bodyLimit = 100 * 1024,
    missing = 'refuse',
    stopping,
    log = SILENT,
    inDevelopment = false,
  } = options;
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
  const handled = mocks
    ? operations.filter(({ id }) => Object.hasOwn(given, id) && given[id] !== undefined)
    : operations;
  const isRefused = (id: string) => options.strict === true || (!mocks && Object.hasOwn(given, id));
  const refused = [...broken].flatMap(([id, reasons]) => (isRefused(id) ? reasons : []));
  const faults = [...problems, ...refused, ...unverified(handled, schemes), ...findings];
  if (faults.length > 0) throw new DocumentError(document.describe(faults));
  const reasons = new Map([...broken].map(([id, found]) => [id, document.describe(found)]));
  for (const [operationId, reason] of reasons) {
    log.warn({ operationId, locations: reason.split('\n') }, `${operationId} cannot be served and answers 501`);
  }
  // `npm run dev` shows them.
  const unenforced = inDevelopment ? [] : notices;
  if (unenforced.length > 0) {
    const locations = document.describe(unenforced.slice(0, FEW)).split('\n');
    const more = unenforced.length > FEW ? unenforced.length - FEW : undefined;
    log.warn({ locations, more }, 'not all of the document is enforced');
  }
  const context: AppContext = {
    root,
    securitySchemes,
    handlers,
    samplesFor,
    validatorOf,
    errorBody,
    bodyLimit,
    stopping,
    schemes,
    broken: reasons,
    log,
  };
  return { document, operations: all, context };
}

/** Finds the validator of an operation. Those of one path are made together, when the first of them is asked for. */
function validatorsOf(root: Json, operations: readonly Operation[], reading: Reading): AppContext['validatorOf'] {
  const paths = Map.groupBy(operations, ({ path }) => path);
  const made = new Map<string, ReturnType<typeof createPathValidators>>();
  return (operation) => {
    const { path } = operation;
    const validators = made.get(path) ?? createPathValidators(root, paths.get(path) ?? [], reading);
    made.set(path, validators);
    const validator = validators.get(operation);
    if (validator === undefined) throw new Error(`${operation.id} has no validator`);
    return validator;
  };
}
