import { parse } from 'node:url';
import type { RequestHandler } from 'express';
import { OpenApiSpecLoader } from 'express-openapi-validator/dist/framework/openapi.spec.loader.js';
import { OpenApiValidator } from 'express-openapi-validator/dist/openapi.validator.js';
import { type Json, objectAt } from '../document/document.ts';
import type { SecurityRequirement } from '../document/operations.ts';
import { int64Format } from '../json/exact.ts';
import { isMultipleOf } from './multiple.ts';
import { multipleFormat } from './rewrite.ts';

/** Whose credentials were accepted, by scheme, and why others were not. */
export interface Granted {
  readonly callers: Map<string, unknown>;
  readonly reasons: unknown[];
}

/** An operation in the terms of express-openapi-validator: values and their schemas, each under a key. */
export interface JudgedOperation {
  readonly security: readonly SecurityRequirement[];
  /** The schema of all that comes with a request, by the key of its media type: `request/…`. */
  readonly requests: Readonly<Record<string, Json>>;
  readonly responses: Readonly<Record<string, unknown>>;
}

/** express-openapi-validator for one operation. What it finds is thrown as it finds it. */
export interface Judge {
  security(credentials: JudgedCredentials): Promise<Granted>;
  /** Fills in defaults. */
  request(key: string, value: unknown): Promise<void>;
  response(key: string, value: unknown): Promise<void>;
}

/** Where credentials may stand. */
export interface JudgedCredentials {
  readonly headers: object;
  readonly query: object;
  readonly cookies: object;
}

/** Proves a credential of a scheme. */
export type JudgeScheme = (credentials: unknown, scopes: readonly string[]) => unknown;

/** What express-openapi-validator reads of a request. */
interface Examined {
  readonly method: string;
  readonly path: string;
  readonly originalUrl: string;
  readonly baseUrl: string;
  readonly app: object;
  readonly headers: object;
  readonly query: object;
  readonly cookies: object;
  readonly params: object;
  readonly body: unknown;
  readonly openapi: object | undefined;
}

const PATH = '/operation';
const NOTHING = {};
const NO_CREDENTIALS: JudgedCredentials = { headers: NOTHING, query: NOTHING, cookies: NOTHING };
const APP = { param: () => undefined, enabled: () => true };
const REPLY_HEADERS = { 'content-type': 'application/json' };

/**
 * express-openapi-validator calls `url.parse` for each request. Until it has once warned that this is deprecated, Node
 * takes a stack trace each time to see whether a dependency calls it, which costs more than all the parsing.
 */
function settleDeprecation(): void {
  const { noDeprecation } = process;
  process.noDeprecation = true;
  parse('');
  process.noDeprecation = noDeprecation ?? false;
}

settleDeprecation();

/**
 * Sets express-openapi-validator up for the operations of one path item, by method.
 *
 * It is given a document of this path alone, under one constant path and with nothing but bodies: those of requests
 * under media types that no client can choose, those of responses under keys that are no status, so that 500 and above
 * are checked too. In place of the client's request it sees a plain object.
 */
export async function judgesOf(
  operations: ReadonlyMap<string, JudgedOperation>,
  components: Json,
  fractions: Iterable<number>,
  schemes: Readonly<Record<string, JudgeScheme>>,
): Promise<Map<string, Judge>> {
  // Both are typed to take any document of OpenAPI, which the type of this one does not prove.
  const apiDoc = {
    openapi: '3.1.0',
    info: { title: 'one path', version: '1' },
    paths: { [PATH]: Object.fromEntries([...operations].map(([method, item]) => [method, operationObject(item)])) },
    components,
  } as never;
  const validator = new OpenApiValidator({
    apiSpec: apiDoc,
    validateApiSpec: false,
    validateRequests: { allErrors: true },
    validateResponses: { allErrors: true },
    ajvFormats: { mode: 'full' },
    formats: { int64: int64Format, ...multipleFormats(fractions) },
    fileUploader: false,
    validateSecurity: {
      handlers: Object.fromEntries(
        Object.entries(schemes).map(([name, judge]) => [
          name,
          async (examined: unknown, scopes: string[]) => {
            const { callers, reasons } = (examined as { granted: Granted }).granted;
            try {
              callers.set(name, await judge(examined, scopes));
              return true;
            } catch (error) {
              reasons.push(error);
              throw error;
            }
          },
        ]),
      ),
    },
  });
  adjustAjv(validator);
  const spec = new OpenApiSpecLoader({ apiDoc, validateApiSpec: false, $refParser: { mode: 'bundle' } });
  const handlers = validator.installMiddleware(spec.load());
  const step = (name: string): RequestHandler => {
    const handler = handlers.find((candidate) => candidate.name === name);
    if (handler === undefined) throw new Error(`express-openapi-validator has no ${name}`);
    return handler as unknown as RequestHandler;
  };
  const load = step('pathParamsMiddleware');
  const metadata = step('metadataMiddleware');
  const security = step('securityMiddleware');
  const request = step('requestMiddleware');
  const response = step('responseMiddleware');

  const judges = new Map<string, Judge>();
  for (const method of operations.keys()) {
    const examine = examiner(method.toUpperCase());
    const probe = examine(PATH, undefined, NO_CREDENTIALS, undefined);
    await run(load, probe);
    await run(metadata, probe);
    const { openapi } = probe;
    if (openapi === undefined) throw new Error('express-openapi-validator did not find its operation');

    judges.set(method, {
      async security(credentials) {
        const granted: Granted = { callers: new Map(), reasons: [] };
        try {
          await run(security, new ExaminedCredentials(credentials, openapi, granted));
        } catch (error) {
          throw Object.assign(error instanceof Error ? error : new Error(String(error)), { reasons: granted.reasons });
        }
        return granted;
      },
      request: (key, value) =>
        run(request, examine('', openapi, { ...NO_CREDENTIALS, headers: { 'content-type': key } }, value)),
      response(statusCode, value) {
        const examined = examine('', openapi, NO_CREDENTIALS, undefined);
        return new Promise((resolve, reject) => {
          const reply = {
            statusCode,
            headersSent: false,
            getHeaders: () => REPLY_HEADERS,
            json: (_: unknown) => resolve(),
          };
          // The response is judged when it is sent through `json`, which the step replaces.
          response(examined as never, reply as never, (error?: unknown) => {
            if (error === undefined) reply.json({ value });
            else reject(error);
          });
        });
      },
    });
  }
  return judges;
}

/** Credentials as a request: query and cookies are costly to read, and few schemes look at them. */
class ExaminedCredentials {
  readonly headers: object;
  readonly openapi: object;
  readonly granted: Granted;
  readonly #credentials: JudgedCredentials;

  constructor(credentials: JudgedCredentials, openapi: object, granted: Granted) {
    this.headers = credentials.headers;
    this.openapi = openapi;
    this.granted = granted;
    this.#credentials = credentials;
  }

  get query(): object {
    return this.#credentials.query;
  }

  get cookies(): object {
    return this.#credentials.cookies;
  }
}

const examiner =
  (method: string) =>
  (
    originalUrl: string,
    openapi: object | undefined,
    { headers, query, cookies }: JudgedCredentials,
    body: unknown,
  ): Examined => ({
    method,
    path: PATH,
    originalUrl,
    baseUrl: '',
    app: APP,
    headers,
    query,
    cookies,
    params: NOTHING,
    body,
    openapi,
  });

const multipleFormats = (fractions: Iterable<number>) =>
  Object.fromEntries(
    Array.from(fractions, (fraction) => [
      multipleFormat(fraction),
      { type: 'number' as const, validate: (value: number) => isMultipleOf(value, fraction) },
    ]),
  );

/**
 * Sets what no option of express-openapi-validator reaches: Ajv's strict mode would refuse a tuple that may be shorter or
 * longer than its `prefixItems`, and without `ownProperties` it takes `constructor` for a member of every object.
 */
function adjustAjv({ ajvOpts }: OpenApiValidator): void {
  for (const kind of ['preprocessor', 'request', 'response'] as const) {
    const options = { ...ajvOpts[kind], strictTuples: false, ownProperties: true };
    Object.defineProperty(ajvOpts, kind, { value: options });
  }
}

const operationObject = ({ security, requests, responses }: JudgedOperation): Json => ({
  security,
  requestBody: {
    content: Object.fromEntries(Object.entries(requests).map(([key, schema]) => [key, { schema }])),
  },
  responses: Object.fromEntries(
    Object.entries(responses).map(([key, schema]) => [
      key,
      {
        description: '',
        content: {
          'application/json': { schema: { type: 'object', required: ['value'], properties: { value: schema } } },
        },
      },
    ]),
  ),
});

const run = (step: RequestHandler, examined: Examined | ExaminedCredentials): Promise<void> =>
  new Promise((resolve, reject) => {
    step(examined as never, NOTHING as never, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
  });

/** What express-openapi-validator found wrong with a value, as pointers into it; `undefined` for any other error. */
export function findingsOf(error: unknown): { path: string; message: string }[] | undefined {
  if (!(error instanceof Error) || !('errors' in error) || !Array.isArray(error.errors)) return undefined;
  const all = error.errors.map(objectAt);
  // That an `if` did not lead to its `then` says nothing beside what is wrong there.
  const telling = all.filter(({ errorCode }) => errorCode !== 'if.openapi.validation');
  return (telling.length > 0 ? telling : all).map(({ path, message }) => ({
    path: String(path).replace(/^\/(body|response\/value)(?=\/|$)/, ''),
    message:
      MESSAGES.get(String(message)) ?? String(message).replace(/^must match format "(multiple of .*)"$/, 'must be $1'),
  }));
}

const MESSAGES: ReadonlyMap<string, string> = new Map([
  ['must match format "int64"', 'must be an integer from -9223372036854775808 to 9223372036854775807'],
  ['boolean schema is false', 'must not be there'],
]);
