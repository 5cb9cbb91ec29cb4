import { type Budget, deprecationOf, type Operation, parameterReader } from 'openapi-document';
import type { Answer, Call, CallRecord } from './call.ts';
import { describeError } from './describe-error.ts';
import type { AnyAround, AnyHandler } from './handlers/types.ts';
import type { ServiceContext } from './prepare.ts';
import { bodyReader } from './request/body.ts';
import { RequestContext } from './request/context.ts';
import { createAnswer, isItemStream, streamedAnswer } from './response/answer.ts';
import { failureAnswer, failureOf } from './response/failures.ts';
import { HttpError, InvalidReply } from './response/http-error.ts';
import { ignoreErrors } from './response/item-body.ts';
import { checkReply } from './response/reply.ts';
import { apiKeyQueryNames, authentication, challengesOf } from './security/schemes.ts';
import { type OperationValidator, Violations } from './validation/validator.ts';

/**
 * The steps that answer the calls of an operation. Never rejects.
 *
 * @param path the path of the call, without the base path.
 */
export type Plan = (call: Call, record: CallRecord, path: string) => Promise<Answer>;

/** The status in the log and the metrics of a request whose client has disconnected. */
const DISCONNECTED = 499;

function isAbortError(error: unknown): boolean {
  try {
    return Object(error).name === 'AbortError';
  } catch {
    // Handlers may throw values whose properties cannot be read.
    return false;
  }
}

/**
 * Plans an operation, before the port opens. The returned function has the steps of a call in their
 * order.
 *
 * @throws {Error} if the operation has no handler, or nothing verifies its credentials.
 */
export function planOperation(operation: Operation, context: ServiceContext): Plan {
  const { document, failures, log, stopping } = context;
  const { id } = operation;
  const reason = context.broken.get(id);
  if (reason !== undefined || context.passed.has(id)) {
    // Credentials are not checked: the error may be in the security requirements.
    const failure =
      reason === undefined
        ? new HttpError(404, 'no such path', { reason: `another handler answers ${id}` })
        : new HttpError(501, `the document has an error: ${id} cannot be served`, { reason });
    return async (call, record) => {
      record.operationId = id;
      return failureAnswer(failure, record, call, failures);
    };
  }

  const handler = context.handlers[id];
  if (handler === undefined) throw new Error(`${id} has no handler`);
  const handle =
    context.around === undefined ? handler : handlerWithin(context.around, id, handler);
  const validator = context.validatorOf(operation);
  const samples = context.samplesFor(operation);
  const authenticate = authentication(operation, context.schemes, samples !== undefined);
  const ignored = apiKeyQueryNames(document.securitySchemes);
  const checkParameters = parameterCheck(parameterReader(operation, ignored), validator);
  const readBody = bodyReader(operation, context.bodyLimit, validator);
  const challenge = challengesOf(operation, context.schemes);
  const deprecation = Object.entries(deprecationOf(operation).headers).flat();
  const operationFailures = { ...failures, operation, validator, samples, challenge };

  return async (call, record, path) => {
    const { method, headers, query = '' } = call;
    const { account } = record;
    record.operationId = id;
    if (deprecation.length > 0) record.headers.push(...deprecation);
    let isStreamCancelled = false;
    try {
      // Only promises are awaited: `await` takes time for a value, too.
      const authenticating = authenticate(call);
      const authenticated =
        authenticating instanceof Promise ? await authenticating : authenticating;
      record.caller = authenticated?.caller;
      record.callers = authenticated?.callers;
      account.subject = record.caller?.subject;

      const hasParameters = query !== '' || operation.parameters.length > 0;
      const reading =
        hasParameters || account.mustWait
          ? account.inTurn(() => checkParameters({ path, query, headers }, account))
          : { path: {}, query: {}, header: {}, cookie: {} };
      const parameters = reading instanceof Promise ? await reading : reading;
      const { contentType, body } = await readBody(call, account);

      const request = new RequestContext(call, record, log, parameters, contentType, body);
      const reply = await handle(request);
      if (reply === undefined || reply === null)
        throw new InvalidReply(
          `${id} answered ${reply}: its handler and the hook "around" must return a reply`,
        );
      record.reason = reply.reason;
      record.mocked = reply.mocked;

      const checking = account.inTurn(() => checkReply(operation, validator, reply, account), true);
      const checked = checking instanceof Promise ? await checking : checking;
      if (isItemStream(checked.body)) {
        return await streamedAnswer(checked, record, method, {
          stopping,
          onStop: () => request.abort(),
          onFailure: (error) => {
            // The signal often closes the source of the items, which then fails.
            isStreamCancelled = call.signal?.aborted === true;
            if (!isStreamCancelled) record.failure = failureOf(error);
          },
          onEnd: () => account.settle(),
        });
      }
      account.settle();
      return createAnswer(checked, record, method);
    } catch (error) {
      account.settle();
      if (isStreamCancelled || (isAbortError(error) && call.signal?.aborted)) {
        return createAnswer({ status: DISCONNECTED }, record, method);
      }
      return failureAnswer(error, record, call, operationFailures);
    }
  };
}

/** Returns a function that parses and validates parameters. It throws all their violations. */
function parameterCheck(
  read: ReturnType<typeof parameterReader>,
  validator: OperationValidator,
): (
  source: Parameters<typeof read>[0],
  budget: Budget,
) => ReturnType<OperationValidator['parameters']> {
  return (source, budget) => {
    const { values, violations } = read(source);
    let isComplete = true;
    try {
      const checked = validator.parameters(values, budget);
      if (violations.length === 0) return checked;
    } catch (error) {
      if (!(error instanceof Violations)) throw error;
      // A parameter that cannot be parsed has no value, and would be reported as missing, too.
      const unread = new Set(violations.map(({ path }) => path));
      violations.unshift(...error.violations.filter(({ path }) => !unread.has(path)));
      ({ isComplete } = error);
    }
    throw new Violations(violations, isComplete);
  };
}

/**
 * Returns a handler that runs `around`, which may answer before the promise of `next` settles. A
 * later error of the handler or of the stream in its reply must not end the process.
 */
function handlerWithin(around: AnyAround, id: string, handler: AnyHandler): AnyHandler {
  return async (request) => {
    let isAnswered = false;
    const onError = (error: unknown): void => {
      if (!isAnswered) return;
      const { reason, cause } = failureOf(error);
      const entry = { reason, err: cause === undefined ? undefined : describeError(cause) };
      request.log.warn(entry, 'the handler failed after the hook "around" had answered');
    };
    const next = (members?: object) => {
      // Handlers may throw synchronously.
      const reply = Promise.try(handler, Object.assign(request, members));
      reply.then(({ body }) => ignoreErrors(body)).catch(onError);
      return reply;
    };
    try {
      return await around(id, request, next);
    } finally {
      isAnswered = true;
    }
  };
}
