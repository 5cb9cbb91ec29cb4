import { parse } from 'node:url';
import { RequestValidator, ResponseValidator, security } from 'express-openapi-validator/dist/middlewares/index.js';
import { OpenApiValidator } from 'express-openapi-validator/dist/openapi.validator.js';
import { type Json, objectAt } from '../document/document.ts';
import type { SecurityRequirement } from '../document/operations.ts';
import { Doubles, numericKeywords } from './numbers.ts';
import { onceKeyword } from './once.ts';
import { Violations } from './violations.ts';

/** Synthetic operation for express-openapi-validator ("EOV"): schemas by media type or response key. */
export interface SyntheticOperation {
  readonly security: readonly SecurityRequirement[];
  /** Schemas of parameters and body together, by a key such as `request/0`. EOV takes it for the media type. */
  readonly requests: Readonly<Record<string, Json>>;
  /** Schemas of bodies and headers. EOV takes the index for the status. */
  readonly responses: readonly Json[];
}

/** What a check of credentials looks at. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly cookies: Readonly<Record<string, unknown>>;
}

/** Checks one credential and returns its caller. Throws the reason if the credential is not accepted. */
export type VerifyScheme<Caller> = (credentials: Credentials, scopes: readonly string[]) => Caller | Promise<Caller>;

/** The callers by security scheme, the errors of the other schemes, and the message of EOV if access is denied. */
export interface SecurityResult<Caller> {
  readonly callers: ReadonlyMap<string, Caller>;
  readonly reasons: readonly unknown[];
  readonly denied: string | undefined;
}

/** The validators of EOV for one operation. */
export interface Validators<Caller> {
  security(credentials: Credentials): Promise<SecurityResult<Caller>>;
  /** Fills in defaults. @throws {Violations} */
  request(key: string, value: unknown): void;
  /** @throws {Violations} */
  response(index: number, value: unknown): void;
}

const PATH = '/operation';
const NOTHING = {};

/**
 * EOV calls the deprecated `url.parse` for each request. Node takes a stack trace for each call until it has printed the
 * deprecation warning once. This call spends that warning, without output.
 */
function spendDeprecationWarning(): void {
  const { noDeprecation } = process;
  process.noDeprecation = true;
  parse('');
  process.noDeprecation = noDeprecation ?? false;
}

spendDeprecationWarning();

/**
 * Sets EOV up for the operations of one path item, by method.
 *
 * EOV gets a document with this path alone, under a constant path, where everything is a body. Media types and status
 * codes are keys that no client can choose, so that responses of 500 and above are checked as well.
 */
export function validatorsOf<Caller>(
  operations: ReadonlyMap<string, SyntheticOperation>,
  components: Json,
  verifiers: Readonly<Record<string, VerifyScheme<Caller>>>,
): Map<string, Validators<Caller>> {
  const doubles = new Doubles();
  const run = { count: 0 };
  const paths = {
    [PATH]: Object.fromEntries([...operations].map(([method, item]) => [method, operationObject(item)])),
  };
  // EOV's types demand any OpenAPI document. This one is complete for EOV, but has a narrower type.
  const apiDoc = { openapi: '3.1.0', info: { title: 'one path', version: '1' }, paths, components } as never;
  const { ajvOpts, options } = new OpenApiValidator({
    apiSpec: apiDoc,
    validateRequests: { allErrors: true },
    validateResponses: { allErrors: true },
    ajvFormats: { mode: 'full' },
  });
  // No option of EOV reaches these options of Ajv. Strict tuples would reject one that is shorter or longer than its
  // `prefixItems`. Without `ownProperties`, `constructor` is a member of every object.
  const ours = { strictTuples: false, ownProperties: true };
  const once = onceKeyword(run);
  const requests = new RequestValidator(apiDoc, {
    ...ajvOpts.request,
    ...ours,
    keywords: [...numericKeywords(doubles), once],
  });
  const responses = new ResponseValidator(
    apiDoc,
    { ...ajvOpts.response, ...ours, keywords: [...numericKeywords(), once] },
    options.validateResponses || undefined,
  );
  const authenticate = security(apiDoc, handlersOf(verifiers));

  return new Map(
    Object.entries(paths[PATH] ?? {}).map(([method, schema]) => {
      const openapi = { expressRoute: PATH, openApiRoute: PATH, pathParams: {}, schema };
      const input = (headers: object, body?: unknown) =>
        new ValidatorInput(method.toUpperCase(), openapi, headers, body) as never;
      let compiled: ReturnType<ResponseValidator['_getOrBuildValidator']> | undefined;

      const validators: Validators<Caller> = {
        async security({ headers, query, cookies }) {
          const callers = new Map<string, Caller>();
          const reasons: unknown[] = [];
          let denied: string | undefined;
          const request = { headers, query, cookies, openapi, callers, reasons };
          await authenticate(request as never, NOTHING as never, (error?: unknown) => {
            if (error !== undefined) denied = error instanceof Error ? error.message : String(error);
          });
          return { callers, reasons, denied };
        },
        request(key, value) {
          run.count += 1;
          withViolations(() => {
            doubles.forget();
            requests.validate(input({ 'content-type': key }, value), NOTHING as never, failIfError);
            doubles.apply();
          });
        },
        response(index, value) {
          run.count += 1;
          withViolations(() => {
            compiled ??= responses._getOrBuildValidator(input(NOTHING), schema.responses as never);
            responses._validate({ validators: compiled, body: { value }, statusCode: index, path: PATH, accepts: [] });
          });
        },
      };
      return [method, validators];
    }),
  );
}

/** What EOV reads of a request. */
class ValidatorInput {
  readonly method: string;
  readonly path = PATH;
  readonly originalUrl = PATH;
  readonly openapi: object;
  readonly headers: object;
  readonly query = NOTHING;
  readonly params = NOTHING;
  readonly body: unknown;

  constructor(method: string, openapi: object, headers: object, body: unknown) {
    this.method = method;
    this.openapi = openapi;
    this.headers = headers;
    this.body = body;
  }
}

/** A request whose credentials EOV checks, and where the verifiers leave their results. */
interface SecurityInput<Caller> extends Credentials {
  readonly callers: Map<string, Caller>;
  readonly reasons: unknown[];
}

/** EOV's security handlers: EOV combines their verdicts into that of the security requirements. */
const handlersOf = <Caller>(verifiers: Readonly<Record<string, VerifyScheme<Caller>>>) =>
  Object.fromEntries(
    Object.entries(verifiers).map(([name, verify]) => [
      name,
      async (request: unknown, scopes: string[]) => {
        const credentials = request as SecurityInput<Caller>;
        try {
          credentials.callers.set(name, await verify(credentials, scopes));
          return true;
        } catch (error) {
          credentials.reasons.push(error);
          throw error;
        }
      },
    ]),
  );

const operationObject = ({ security: requirements, requests, responses }: SyntheticOperation): Json => ({
  security: requirements,
  requestBody: { content: Object.fromEntries(Object.entries(requests).map(([key, schema]) => [key, { schema }])) },
  responses: Object.fromEntries(
    responses.map((schema, index) => [
      index,
      {
        description: '',
        content: {
          'application/json': { schema: { type: 'object', required: ['value'], properties: { value: schema } } },
        },
      },
    ]),
  ),
});

function failIfError(error?: unknown): void {
  if (error !== undefined) throw error;
}

/** Runs a validator of EOV. Throws what EOV finds as `Violations`, with JSON pointers into the value. */
function withViolations(validate: () => void): void {
  try {
    validate();
  } catch (error) {
    if (!(error instanceof Error && 'errors' in error && Array.isArray(error.errors))) throw error;
    const all = error.errors.map(objectAt);
    // A failed `if` adds nothing to the violations inside it.
    const telling = all.filter(({ errorCode }) => errorCode !== 'if.openapi.validation');
    throw new Violations(
      (telling.length > 0 ? telling : all).map(({ path, message }) => ({
        path: String(path).replace(/^\/(body|response\/value)(?=\/|$)/, ''),
        message: message === 'boolean schema is false' ? 'must not be there' : String(message),
      })),
    );
  }
}
