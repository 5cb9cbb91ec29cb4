import { deprecationOf, type Operation } from 'openapi-document';
import type { Account } from './account.ts';
import type { Answer, Call, CallRecord } from './call.ts';
import { describeError } from './describe-error.ts';
import type { AnyAround, AnyHandler, AnyReply } from './handlers/types.ts';
import type { ServiceContext } from './prepare.ts';
import { bodyReader } from './request/body.ts';
import { RequestContext } from './request/context.ts';
import { parametersReader } from './request/parameters.ts';
import { createAnswer, streamedAnswer } from './response/answer.ts';
import { failureAnswer, failureOf } from './response/failures.ts';
import { HttpError, InvalidReply } from './response/http-error.ts';
import { closeItems, ignoreErrors } from './response/item-body.ts';
import { isAsyncIterable, replyWriter } from './response/reply.ts';
import { apiKeyQueryNames } from './security/places.ts';
import { authentication, challengesOf } from './security/requirements.ts';
import type { Parameters } from './validation/validator.ts';

/** The steps of a call of an operation. Never rejects. */
type Plan = (call: Call, record: CallRecord) => Promise<Answer>;

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
 * @throws {Error} if nothing verifies the credentials of the operation.
 */
export function planOperation(operation: Operation, context: ServiceContext): Plan {
  const { around, document, log, schemes, stopping } = context;
  const { id } = operation;
  const binding = context.bindings.get(id);
  if (binding === undefined) throw new Error(`${id} has no handler`);
  const { handler, samples } = binding;
  if (handler instanceof HttpError) {
    // Credentials are not checked: the error may be in the security requirements.
    return async (call, record) => {
      record.operationId = id;
      return failureAnswer(handler, record, call, context.failures);
    };
  }

  const validator = context.validatorOf(operation);
  const authenticate = authentication(operation, schemes, samples !== undefined);
  const ignored = apiKeyQueryNames(document.securitySchemes);
  const readParameters = parametersReader(operation, ignored, validator);
  const readBody = bodyReader(operation, context.bodyLimit, validator);
  const writeReply = replyWriter(operation, validator);
  const challenge = challengesOf(operation, schemes);
  const reached = { operation, validator, samples, challenge };
  const failures = { ...context.failures, reached };
  const deprecation = Object.entries(deprecationOf(operation).headers).flat();

  return async (call, record) => {
    const { method, path, headers, query = '' } = call;
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
      account.caller = record.caller?.subject ?? account.caller;

      let parameters: Parameters = { path: {}, query: {}, header: {}, cookie: {} };
      if (query !== '' || operation.parameters.length > 0 || account.turns.mustWait) {
        const checking = account.turns.run(account, () =>
          readParameters({ path, query, headers }, account),
        );
        parameters = checking instanceof Promise ? await checking : checking;
      }

      const reading = readBody(call, account);
      const { contentType, body } = reading instanceof Promise ? await reading : reading;

      const request = new RequestContext(call, record, log, parameters, contentType, body);
      const reply = await (around === undefined
        ? handler(request)
        : callAround(around, id, request, handler, account));
      if (reply === undefined || reply === null)
        throw new InvalidReply(
          `${id} responded with ${reply}: its handler and the hook "around" must return a reply`,
        );
      record.reason = reply.reason;
      record.mocked = reply.mocked;

      const checking = account.turns.run(
        account,
        () => writeReply(reply, account, record.headers),
        true,
      );
      const checked = checking instanceof Promise ? await checking : checking;
      if (checked.items !== undefined) {
        const answer = await streamedAnswer(checked, checked.items, record, method, {
          stopping,
          onStop: () => request.abort(),
          onFailure: (error) => {
            // The signal often closes the source of the items, which then fails.
            isStreamCancelled = call.signal?.aborted === true;
            if (!isStreamCancelled) record.failure = failureOf(error);
          },
          onEnd: () => account.settle(),
        });
        record.streamStarted = performance.now();
        return answer;
      }
      account.settle();
      return createAnswer(checked, record, method);
    } catch (error) {
      account.settle();
      if (isStreamCancelled || (isAbortError(error) && call.signal?.aborted)) {
        return createAnswer({ status: DISCONNECTED }, record, method);
      }
      return failureAnswer(error, record, call, failures);
    }
  };
}

/**
 * Runs `around`, which may return before the promise of `next` settles. A later error of the
 * handler or of the stream in its reply must not end the process.
 */
async function callAround(
  around: AnyAround,
  id: string,
  request: RequestContext,
  handler: AnyHandler,
  account: Account,
): Promise<AnyReply> {
  let isAnswered = false;
  let answer: AnyReply | undefined;
  const onError = (error: unknown): void => {
    if (!isAnswered) return;
    const { message, reason = message, cause } = failureOf(error);
    const entry = { reason, err: cause === undefined ? undefined : describeError(cause) };
    request.log.warn(entry, 'the handler failed after the hook "around" had responded');
  };
  const next = (members?: object) => {
    // Handlers may throw synchronously.
    const reply = Promise.try(handler, Object.assign(request, members));
    reply.then(({ body }) => closeReplaced(body)).catch(onError);
    return reply;
  };
  /** Closes a stream that is not sent. `around` may send another stream that reads it. */
  function closeReplaced(body: unknown): void {
    ignoreErrors(body);
    if (!isAsyncIterable(body)) return;
    account.defer(() => {
      if (body !== answer?.body) closeItems(body);
    });
  }
  try {
    answer = await around(id, request, next);
    return answer;
  } finally {
    isAnswered = true;
  }
}
