import { parse } from 'node:url';
import { RequestValidator, ResponseValidator } from 'express-openapi-validator/dist/middlewares/index.js';
import { OpenApiValidator } from 'express-openapi-validator/dist/openapi.validator.js';
import { type Json, objectAt, patternOf } from 'openapi-document';
import { LargeNumbers, numericKeywords } from './numbers.ts';
import { onceKeyword } from './once.ts';
import { Violations } from './violations.ts';

/** Synthetic operation for express-openapi-validator ("EOV"): schemas by media type or response key, an index for each. */
export interface SyntheticOperation {
  /** Of parameters and body together. */
  readonly requests: readonly Json[];
  /** Of bodies, and of headers. */
  readonly responses: readonly Json[];
  /** What they reference. */
  readonly schemas: Json;
}

// EOV calls the deprecated `url.parse` for each request. Until Node has printed its warning once, it takes a stack trace
// at each call. This call counts as the first and prints nothing.
const { noDeprecation } = process;
process.noDeprecation = true;
parse('');
process.noDeprecation = noDeprecation ?? false;

const NOTHING = {};

/**
 * EOV's validators, called directly. In the document that EOV gets, everything is a body. No client can choose its media
 * types, and it has no statuses, so that responses of 500 and above are validated too.
 */
export class EovValidator {
  readonly #operation: SyntheticOperation;
  readonly #requests: RequestValidator;
  readonly #responses: ResponseValidator;
  readonly #compiled: ReturnType<ResponseValidator['_getOrBuildValidator']>[] = [];
  readonly #large = new LargeNumbers();
  readonly #run = { count: 0 };
  readonly #openapi: object;

  /** @param allErrors whether to look for every violation, or only for the first. */
  constructor(operation: SyntheticOperation, allErrors: boolean) {
    this.#operation = operation;
    const content = operation.requests.map((schema, index) => [`request/${index}`, { schema }]);
    const schema = { requestBody: { content: Object.fromEntries(content) } };
    this.#openapi = { expressRoute: '', openApiRoute: '', pathParams: NOTHING, schema };
    // EOV's types ask for members of a document that its validators do not read.
    const apiDoc = { openapi: '3.1.0', paths: {}, components: { schemas: operation.schemas } } as never;
    const { ajvOpts } = new OpenApiValidator({
      apiSpec: apiDoc,
      validateRequests: { allErrors },
      validateResponses: { allErrors },
      ajvFormats: { mode: 'full' },
    });
    const options = (standard: object, large?: LargeNumbers) => ({
      ...standard,
      // Ajv would reject a tuple that is shorter or longer than its `prefixItems`.
      strictTuples: false,
      // Without this, every object has a member `constructor`.
      ownProperties: true,
      code: { regExp: Object.assign(patternOf, { code: 'new RegExp' }) },
      keywords: [...numericKeywords(large), onceKeyword(this.#run)],
    });
    this.#requests = new RequestValidator(apiDoc, options(ajvOpts.request, this.#large));
    this.#responses = new ResponseValidator(apiDoc, options(ajvOpts.response));
  }

  /** Fills in defaults, and rounds each bigint that is valid as `number`. @throws {Violations} */
  request(index: number, body: unknown): void {
    this.#run.count += 1;
    this.#large.forget();
    const input = this.#input('request', { 'content-type': `request/${index}` }, body);
    withViolations(() => this.#requests.validate(input, undefined as never, throwIfAny));
    this.#large.round();
  }

  /** @throws {Violations} */
  response(index: number, value: unknown): void {
    this.#run.count += 1;
    const validators = this.#compiled[index] ?? this.#compile(index);
    const input = { validators, body: { value }, statusCode: 200, path: '', accepts: [] };
    withViolations(() => this.#responses._validate(input));
  }

  #compile(index: number): ReturnType<ResponseValidator['_getOrBuildValidator']> {
    const properties = { value: this.#operation.responses[index] };
    const content = { 'application/json': { schema: { type: 'object', required: ['value'], properties } } };
    const responses = { 200: { description: '', content } } as never;
    // EOV keeps what it compiles by the method.
    const compiled = this.#responses._getOrBuildValidator(this.#input(`response/${index}`, NOTHING), responses);
    this.#compiled[index] = compiled;
    return compiled;
  }

  /** All that EOV's validators read of a request. */
  #input(method: string, headers: object, body?: unknown): never {
    return { method, originalUrl: '', openapi: this.#openapi, headers, query: NOTHING, params: NOTHING, body } as never;
  }
}

function throwIfAny(error?: unknown): void {
  if (error !== undefined) throw error;
}

/** Runs a validator of EOV, and throws what it finds as `Violations`. */
function withViolations(validate: () => void): void {
  try {
    validate();
  } catch (error) {
    if (!(error instanceof Error && 'errors' in error && Array.isArray(error.errors))) throw error;
    const found = error.errors.map(objectAt);
    // A failed `if` adds nothing to the violations inside it.
    const telling = found.filter(({ errorCode }) => errorCode !== 'if.openapi.validation');
    throw new Violations(
      (telling.length > 0 ? telling : found).map(({ path, message }) => ({
        path: String(path).replace(/^\/(body|response\/value)(?=\/|$)/, ''),
        message: message === 'boolean schema is false' ? 'must not be there' : String(message),
      })),
    );
  }
}
