import { parse } from 'node:url';
import { RequestValidator, ResponseValidator } from 'express-openapi-validator/dist/middlewares/index.js';
import { OpenApiValidator } from 'express-openapi-validator/dist/openapi.validator.js';
import { type Json, objectAt } from '../document/document.ts';
import { patternOf } from '../document/schema.ts';
import { LargeNumbers, numericKeywords } from './numbers.ts';
import { onceKeyword } from './once.ts';
import { Violations } from './violations.ts';

/** Synthetic operation for express-openapi-validator ("EOV"): schemas by media type or response key. */
export interface SyntheticOperation {
  /** Schemas of parameters and body together. The index stands for the media type. */
  readonly requests: readonly Json[];
  /** Schemas of bodies and of headers. The index stands for the status. */
  readonly responses: readonly Json[];
}

/** The validators of EOV for one operation. */
export interface EovValidators {
  /** Fills in defaults, and rounds a bigint that is valid as `number`. @throws {Violations} */
  request(index: number, value: unknown): void;
  /** @throws {Violations} */
  response(index: number, value: unknown): void;
}

// EOV calls the deprecated `url.parse` for each request. Until Node has printed its warning once, it takes a stack trace
// at each call. This call counts as the first and prints nothing.
const { noDeprecation } = process;
process.noDeprecation = true;
parse('');
process.noDeprecation = noDeprecation ?? false;

const PATH = '/operation';
const NOTHING = {};

/**
 * Sets EOV up for the operations of one path item, by method.
 *
 * EOV gets a document of this path alone, under a constant path, in which everything is a body. No client can choose its
 * media types and statuses, and responses of 500 and above are validated too.
 */
export function eovValidators(
  operations: ReadonlyMap<string, SyntheticOperation>,
  components: Json,
): Map<string, EovValidators> {
  const paths = {
    [PATH]: Object.fromEntries([...operations].map(([method, item]) => [method, operationObject(item)])),
  };
  // EOV's types ask for members of a document that its validators do not read.
  const apiDoc = { openapi: '3.1.0', info: { title: 'one path', version: '1' }, paths, components } as never;
  const { ajvOpts } = new OpenApiValidator({
    apiSpec: apiDoc,
    validateRequests: { allErrors: true },
    validateResponses: { allErrors: true },
    ajvFormats: { mode: 'full' },
  });
  // EOV has no options for these. `strictTuples` would reject a tuple that is shorter or longer than its `prefixItems`.
  // Without `ownProperties`, every object has a member `constructor`.
  const regExp = Object.assign((source: string) => patternOf(source), { code: 'patternOf' });
  const ajvOptions = { strictTuples: false, ownProperties: true, code: { regExp } };
  const run = { count: 0 };
  const large = new LargeNumbers();
  const requestKeywords = [...numericKeywords(large), onceKeyword(run)];
  const requests = new RequestValidator(apiDoc, { ...ajvOpts.request, ...ajvOptions, keywords: requestKeywords });
  const responseKeywords = [...numericKeywords(), onceKeyword(run)];
  const responses = new ResponseValidator(apiDoc, { ...ajvOpts.response, ...ajvOptions, keywords: responseKeywords });

  const validatorsFor = (method: string, schema: Json): EovValidators => {
    const openapi = { expressRoute: PATH, openApiRoute: PATH, pathParams: NOTHING, schema };
    // All that EOV reads of a request.
    const request = (headers: object, body?: unknown) =>
      ({ method, originalUrl: '', openapi, headers, query: NOTHING, params: NOTHING, body }) as never;
    let compiled: ReturnType<ResponseValidator['_getOrBuildValidator']> | undefined;
    return {
      request(index, value) {
        run.count += 1;
        large.forget();
        const headers = { 'content-type': `request/${index}` };
        withViolations(() => requests.validate(request(headers, value), undefined as never, throwIfAny));
        large.round();
      },
      response(index, value) {
        run.count += 1;
        compiled ??= responses._getOrBuildValidator(request(NOTHING), schema.responses as never);
        const input = { validators: compiled, body: { value }, statusCode: index, path: PATH, accepts: [] };
        withViolations(() => responses._validate(input));
      },
    };
  };
  return new Map(
    Object.entries(objectAt(paths[PATH])).map(([method, item]) => [method, validatorsFor(method, objectAt(item))]),
  );
}

const operationObject = ({ requests, responses }: SyntheticOperation): Json => ({
  requestBody: { content: Object.fromEntries(requests.map((schema, index) => [`request/${index}`, { schema }])) },
  responses: Object.fromEntries(
    responses.map((value, index) => [
      index,
      { content: { 'application/json': { schema: { type: 'object', required: ['value'], properties: { value } } } } },
    ]),
  ),
});

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
