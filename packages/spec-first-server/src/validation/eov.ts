import type { ValidateFunction } from 'ajv';
import { ResponseValidator } from 'express-openapi-validator/dist/middlewares/openapi.response.validator.js';
import { ajvErrorsToValidatorError, augmentAjvErrors } from 'express-openapi-validator/dist/middlewares/util.js';
import { type Json, patternEngine } from 'openapi-document';
import { LargeNumbers, numericKeywords } from './numbers.ts';
import { onceKeyword } from './once.ts';
import { type Violation, Violations } from './violations.ts';

/** Synthetic operation for express-openapi-validator ("EOV"): schemas by media type or response key, an index for each. */
export interface SyntheticOperation {
  /** Of parameters and body together. */
  readonly requests: readonly Json[];
  /** Of bodies, and of headers. */
  readonly responses: readonly Json[];
  /** What they reference. */
  readonly schemas: Json;
}

/** What EOV's middleware gives to Ajv. EOV's types leave out `ajvFormats`. */
const OPTIONS = {
  strict: false,
  strictNumbers: true,
  validateSchema: false,
  formats: {},
  ajvFormats: { mode: 'full' },
};

/** @throws {Violations} */
type Validate = (index: number, value: unknown) => void;

/**
 * EOV's validators, called without its middleware. In the document that EOV gets, everything is a response of its own. So
 * no client can choose a media type, and a request is validated as a reply is.
 */
export class EovValidator {
  readonly #validateRequest: Validate;
  readonly #validateResponse: Validate;
  readonly #large = new LargeNumbers();
  readonly #run = { count: 0 };

  /** @param allErrors whether to look for every violation, or only for the first. */
  constructor({ requests, responses, schemas }: SyntheticOperation, allErrors: boolean) {
    // EOV's types ask for members of a document that its validators do not read.
    const apiDoc = { openapi: '3.1.0', paths: {}, components: { schemas } } as never;
    const eov = (useDefaults: boolean, large?: LargeNumbers) =>
      new ResponseValidator(apiDoc, {
        ...OPTIONS,
        allErrors,
        useDefaults,
        // Without this, every object has a member `constructor`.
        ownProperties: true,
        code: { regExp: patternEngine },
        keywords: [...numericKeywords(large), onceKeyword(this.#run)],
      });
    this.#validateRequest = validation(eov(true, this.#large), requests);
    this.#validateResponse = validation(eov(false), responses);
  }

  /** Fills in defaults, and rounds each bigint that is valid as `number`. @throws {Violations} */
  request(index: number, value: unknown): void {
    this.#run.count += 1;
    this.#large.forget();
    this.#validateRequest(index, value);
    this.#large.round();
  }

  /** @throws {Violations} */
  response(index: number, value: unknown): void {
    this.#run.count += 1;
    this.#validateResponse(index, value);
  }
}

/** A function that validates by the index of a schema. Each schema is compiled when it is first used. */
function validation(eov: ResponseValidator, schemas: readonly Json[]): Validate {
  const validators: ValidateFunction[] = [];
  return (index, value) => {
    validators[index] ??= compiled(eov, String(index), schemas[index]);
    if (!validators[index]({ response: value })) throw new Violations(violationsOf(validators[index]));
  };
}

function compiled(eov: ResponseValidator, method: string, schema: unknown): ValidateFunction {
  // All that EOV reads of a request: it keeps what it compiles by the method.
  const request = { method, headers: {}, openapi: { expressRoute: '' } } as never;
  const responses = { 200: { description: '', content: { 'application/json': { schema } } } } as never;
  // EOV's types leave out that its validators are grouped by media type.
  const byStatus: Record<string, unknown> = eov._getOrBuildValidator(request, responses);
  const { 'application/json': validator } = byStatus[200] as Record<string, ValidateFunction>;
  if (validator === undefined) throw new Error('express-openapi-validator has compiled no validator');
  return validator;
}

function violationsOf({ errors }: ValidateFunction): Violation[] {
  const found = ajvErrorsToValidatorError(400, augmentAjvErrors(errors ?? [])).errors;
  // A failed `if` adds nothing to the violations inside it.
  const telling = found.filter(({ errorCode }) => errorCode !== 'if.openapi.validation');
  return (telling.length > 0 ? telling : found).map(({ path, message }) => ({
    path: path.replace(/^\/response(?=\/|$)/, ''),
    message: message === 'boolean schema is false' ? 'must not be there' : String(message),
  }));
}
