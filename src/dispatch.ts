import type { Request, Response } from 'express';
import { traceOf } from './access-log.ts';
import { type Answering, answerFailure, type ErrorBody } from './answer.ts';
import type { Caller } from './auth.ts';
import { bodyReader } from './body.ts';
import type { Contract } from './contract/contract.ts';
import type { Operation } from './contract/operation.ts';
import { CredentialsRefused } from './contract/validator.ts';
import type { AnyHandler } from './operations.ts';
import { cookiesOf, pairsOf, parameterReader } from './parameters.ts';
import { checkReply, send } from './reply.ts';
import { apiKeyQueryNames, refusal } from './security.ts';

/** Takes a request to one operation from its credentials to its answer. */
export type Dispatch = (request: Request, response: Response, path: string, query: string) => Promise<void>;

/** What an operation is answered with. */
export interface DispatchOptions {
  readonly handlers: Readonly<Record<string, AnyHandler>>;
  /** Bytes. */
  readonly bodyLimit: number;
  readonly errorBody: ErrorBody;
}

/** Prepares one operation: its validator, and how its parameters and its body are read. */
export async function dispatcher(
  contract: Contract<Caller>,
  operation: Operation,
  { handlers, bodyLimit, errorBody }: DispatchOptions,
): Promise<Dispatch> {
  const { root } = contract.document;
  const handler = handlers[operation.id];
  if (handler === undefined) throw new Error(`${operation.id} has no handler`);
  const validator = await contract.validator(operation);
  const answering: Answering = { operation, validator };
  const readParameters = parameterReader(root, operation, apiKeyQueryNames(root));
  const readBody = bodyReader(root, operation, bodyLimit);

  return async (request, response, path, query) => {
    const trace = traceOf(response);
    trace.operationId = operation.id;
    try {
      const caller = operation.security.length > 0 ? await authenticate(request, query) : undefined;
      trace.subject = caller?.subject;
      const { media, body } = await readBody(request, response);
      const parameters = readParameters({ path, query, headers: request.headers });
      const checked = await validator.request(parameters, media, body);
      const reply = await handler({
        ...checked.parameters,
        contentType: media?.type,
        body: checked.body,
        caller,
        headers: request.headers,
        accepts: (...types) => request.accepts(...types) || undefined,
        get signal() {
          return gone(response);
        },
      });
      await send(response, await checkReply(operation, validator, reply));
    } catch (error) {
      await answerFailure(response, error, errorBody, answering);
    }
  };

  async function authenticate(request: Request, query: string): Promise<Caller | undefined> {
    try {
      const callers = await validator.security({
        headers: request.headers,
        get query() {
          return Object.fromEntries([...pairsOf(query)].map(([name, [value]]) => [name, safelyDecoded(value ?? '')]));
        },
        get cookies() {
          return Object.fromEntries(cookiesOf(request.headers.cookie));
        },
      });
      const [first] = callers.values();
      return [...callers.values()].find(({ subject }) => subject !== undefined) ?? first;
    } catch (error) {
      throw error instanceof CredentialsRefused ? refusal(root, operation, error) : error;
    }
  }
}

/** Aborts when the client is gone before its answer was sent. */
function gone(response: Response): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
