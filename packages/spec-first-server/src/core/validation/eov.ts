import type { Ajv } from 'ajv';
import {
  createRequestAjv,
  createResponseAjv,
} from 'express-openapi-validator/dist/framework/ajv/index.js';
import { AjvOptions } from 'express-openapi-validator/dist/framework/ajv/options.js';
import { schemas } from 'openapi-document';
import { keywords } from './keywords.ts';

/** Custom formats: each function returns true if a string has the format. */
export type Formats = Readonly<Record<string, (text: string) => boolean>>;

export interface EovOptions {
  readonly direction: schemas.Direction;
  readonly allErrors: boolean;
  /** Formats besides those of OpenAPI and JSON Schema. */
  readonly formats: Formats;
}

/**
 * Creates the Ajv of express-openapi-validator ("EOV") for OpenAPI 3.1, with its options, formats
 * and dialect. Does not use its middleware, which needs Express and has a router of its own. EOV
 * exports only the middleware, so this file imports internal modules; `eov.test.ts` tests them.
 */
export function createEovAjv({ direction, allErrors, formats }: EovOptions): Ajv {
  const info = { title: '', summary: '', version: '' };
  const document = { openapi: '3.1.0' as const, info, paths: {}, components: {}, webhooks: {} };
  const create = direction === 'request' ? createRequestAjv : createResponseAjv;
  const { preprocessor } = new AjvOptions({
    apiSpec: document,
    validateRequests: {},
    validateResponses: {},
    validateFormats: true,
    formats: { ...formats },
    serDes: [],
    ajvFormats: { mode: 'full' },
    // Required by the type, used only by the middleware.
    validateApiSpec: false,
    validateSecurity: false,
    fileUploader: false,
    $refParser: { mode: 'bundle' },
    operationHandlers: false,
  });
  return create(document, {
    ...preprocessor,
    allErrors,
    keywords: keywords(direction === 'request'),
    // `rewrite.ts` adds the defaults after the validation.
    useDefaults: false,
    coerceTypes: false,
    // EOV rejects `prefixItems` without `minItems`, which JSON Schema allows.
    strictTuples: false,
    meta: false,
    // Without this, every object has a member `constructor`.
    ownProperties: true,
    code: { regExp: schemas.patternEngine },
    // Ajv's decision to inline a reference is slow for long enums.
    inlineRefs: false,
  });
}
