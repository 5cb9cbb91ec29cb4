import type { Options, ValidateFunction } from 'ajv';
import { createRequestAjv, createResponseAjv } from 'express-openapi-validator/dist/framework/ajv/index.js';
import { type Json, schemas } from 'openapi-document';

/** Which way a value goes. `readOnly` and `writeOnly` depend on it. */
export type Direction = 'request' | 'response';

/**
 * The validators of express-openapi-validator ("EOV") without its middleware, which needs Express's requests and looks for
 * the operation by itself. EOV exports the middleware only, so this file, and no other, imports from its inside. It
 * relies on this, which `eov.test.ts` checks: these two functions return an Ajv for JSON Schema 2020-12 if the document
 * is of OpenAPI 3.1, with the given options and keywords, and with the formats of OpenAPI.
 *
 * @param components what others reference as `#/components/schemas/…`.
 */
export function eovCompiler(
  direction: Direction,
  components: Readonly<Record<string, Json>>,
  options: Pick<Options, 'allErrors' | 'keywords'>,
): (schema: Json) => ValidateFunction {
  const info = { title: '', summary: '', version: '' };
  const document = { openapi: '3.1.0' as const, info, paths: {}, components: {}, webhooks: {} };
  const create = direction === 'request' ? createRequestAjv : createResponseAjv;
  const ajv = create(document, {
    ...options,
    strict: false,
    strictNumbers: true,
    validateSchema: false,
    meta: false,
    formats: {},
    ajvFormats: { mode: 'full' },
    // Without this, every object has a member `constructor`.
    ownProperties: true,
    code: { regExp: schemas.patternEngine },
  });
  for (const [name, schema] of Object.entries(components)) ajv.addSchema(schema, `#/components/schemas/${name}`);
  return (schema) => ajv.compile(schema);
}
