import type { ErrorObject } from 'ajv';
import { OpenAPISchemaValidator } from 'express-openapi-validator/dist/framework/openapi.schema.validator.js';
import { asArray, escapePointerToken, type Finding, type Json, valueAt } from '../document/document.ts';
import type { Report } from './report.ts';

/** The most problems that are reported: one mistake can break many rules. */
const MOST = 10;

/** Checks a document against the JSON Schema of OpenAPI 3.1. Members that it does not know are ignored. */
export function checkStructure(root: Json, report: Report): void {
  const version = '3.1.0';
  // With `validateApiSpec`, Ajv would check the schema of OpenAPI itself at each start, for 10 ms.
  const schemaValidator = new OpenAPISchemaValidator({ version, validateApiSpec: false });
  // EOV's types ask for a document that is valid already.
  const all: readonly ErrorObject[] = schemaValidator.validate({ ...root, openapi: version } as never).errors ?? [];
  // References are resolved when the document is loaded; some of its valid ones are no URI references.
  const errors = all.filter(({ keyword, instancePath }) => keyword !== 'format' || !instancePath.endsWith('/$ref'));
  const served = errors.filter(({ instancePath }) => !UNSERVED.test(instancePath));
  const invalid = served.filter((error) => error.keyword !== 'format' && ignoredBy(root, error) === undefined);
  const precise = invalid.filter(({ keyword }) => !['if', 'oneOf', 'anyOf'].includes(keyword));
  // A branch of `if` or `oneOf` fails as well when only something is wrong inside it that is ignored.
  const vague = invalid.length === errors.length ? invalid : [];
  for (const error of (precise.length > 0 ? precise : vague).slice(0, MOST)) {
    report.problem(error.instancePath, messageOf(error));
  }
  for (const error of served) if (error.keyword === 'format') report.notice(error.instancePath, messageOf(error));
  const ignored = served.flatMap((error) => ignoredBy(root, error) ?? []);
  for (const { pointer, message } of ignored) {
    // A known member with an unknown one inside counts as unknown itself in some branches.
    if (!ignored.some((other) => other.pointer.startsWith(`${pointer}/`))) report.notice(pointer, message);
  }
}

/** Parts of a document that say nothing about its own operations. */
const UNSERVED =
  /^\/webhooks\/|^\/components\/(links|callbacks)\/|^(\/paths\/[^/]+\/[a-z]+|\/components)\/(callbacks|responses\/[^/]+\/links)\//;

function messageOf({ message = '', params }: ErrorObject): string {
  const allowed = asArray(params.allowedValues).join(', ');
  return allowed === '' ? message : `${message}: ${allowed}`;
}

/** What is served without a member that OpenAPI 3.1 does not have; `undefined` if the error is another one. */
function ignoredBy(root: Json, { instancePath, params }: ErrorObject): Finding | undefined {
  const name = params.unevaluatedProperty ?? params.additionalProperty;
  if (name !== undefined) {
    const message = `${name} is not a member of OpenAPI 3.1 here: it is ignored`;
    return { pointer: `${instancePath}/${escapePointerToken(String(name))}`, message };
  }
  if (!instancePath.endsWith('/in') || valueAt(root, instancePath) !== 'querystring') return undefined;
  return { pointer: instancePath, message: 'in: querystring is not a place of OpenAPI 3.1: the parameter is ignored' };
}
