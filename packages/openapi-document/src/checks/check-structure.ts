import { createRequire } from 'node:module';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { asArray, escapePointerToken, type Finding, type Json, valueAt } from '../document/document.ts';
import { stringifyJson } from '../json/exact.ts';
import type { Report } from './report.ts';

/** The most problems that are reported: one mistake can break many rules. */
const MOST = 10;

/** Checks a document against the official JSON Schema of OpenAPI. Members that it does not know are ignored. */
export function checkStructure(root: Json, report: Report): void {
  const version = String(root.openapi).startsWith('3.2') ? '3.2' : '3.1';
  const validate = validatorOf(version);
  validate({ ...root, openapi: `${version}.0` });
  const errors = (validate.errors ?? []).filter(({ keyword, instancePath }) => !OTHERWISE[keyword]?.test(instancePath));
  const served = errors.filter(({ instancePath }) => !UNSERVED.test(instancePath));
  const invalid = served.filter((error) => error.keyword !== 'format' && ignoredBy(root, error, version) === undefined);
  const precise = invalid.filter(({ keyword }) => !['if', 'oneOf', 'anyOf'].includes(keyword));
  // A branch of `if` or `oneOf` fails as well when only something is wrong inside it that is ignored.
  const vague = invalid.length === errors.length ? invalid : [];
  for (const error of (precise.length > 0 ? precise : vague).slice(0, MOST)) {
    const say = isAnnotation(root, error) ? report.notice : report.problem;
    say(error.instancePath, describe(root, error));
  }
  for (const error of served) if (error.keyword === 'format') report.notice(error.instancePath, describe(root, error));
  const ignored = served.flatMap((error) => ignoredBy(root, error, version) ?? []);
  for (const { pointer, message } of ignored) {
    // A known member with an unknown one inside counts as unknown itself in some branches.
    if (!ignored.some((other) => other.pointer.startsWith(`${pointer}/`))) report.notice(pointer, message);
  }
}

const require = createRequire(import.meta.url);

function validatorOf(version: string): ValidateFunction {
  const schema: Json = require(`@seriousme/openapi-schema-validator/schemas/v${version}/schema.json`);
  // Without `optimize`, Ajv compiles this schema in two thirds of the time.
  const code = { optimize: false };
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, logger: false, code });
  addFormats.default(ajv, ['email', 'regex', 'uri', 'uri-reference']);
  return ajv.compile(schema);
}

/** Rules that other checks know better, by keyword and place: references, of which some valid ones are no URIs; empty responses; examples. */
const OTHERWISE: Readonly<Record<string, RegExp>> = {
  format: /\/\$ref$/,
  minProperties: /\/responses$/,
  required: /\/responses$/,
  if: /\/responses$/,
  not: /(?<!\/parameters|\/additionalOperations)$/,
};

/** Parts of a document that say nothing about its own operations. */
const UNSERVED =
  /^\/webhooks\/|^\/components\/(links|callbacks)\/|^(\/paths\/[^/]+\/[a-z]+|\/components)\/(callbacks|responses\/[^/]+\/links)\//;

/** Whether an error is in what only people read, so that everything can be served without it. */
function isAnnotation(root: Json, { instancePath, params }: ErrorObject): boolean {
  const name = params.missingProperty ?? instancePath.slice(instancePath.lastIndexOf('/') + 1);
  if (ABSENT.test(name) && valueAt(root, instancePath) === null) return true;
  return (
    /^\/(info|servers|tags|externalDocs)(\/|$)/.test(instancePath) || (ANNOTATIONS.test(name) && instancePath !== '')
  );
}

/** Members that mean the same when they are `null` and when they are absent. */
const ABSENT = /^(schema|content|parameters|requestBody|responses|headers|links|callbacks)$/;

const ANNOTATIONS = /^(description|summary|title|externalDocs|url|tags|deprecated|operationId|examples?|schemas)$/;

/** What is wrong: the value that was found, and what would be right. */
export function describe(root: unknown, { instancePath, keyword, message = '', params }: ErrorObject): string {
  const allowed = asArray(params.allowedValues).join(', ');
  const name = instancePath.slice(instancePath.lastIndexOf('/') + 1);
  const found = stringifyJson(valueAt(root, instancePath)) ?? '';
  const but = keyword === 'required' || found.length > 60 ? '' : `, but ${name} is ${found}`;
  return (allowed === '' ? message : `${message}: ${allowed}`) + but;
}

/** What is served without a member that OpenAPI does not have; `undefined` if the error is another one. */
function ignoredBy(root: Json, { instancePath, params }: ErrorObject, version: string): Finding | undefined {
  const name = params.unevaluatedProperty ?? params.additionalProperty;
  if (name !== undefined) {
    const message = `${name} is not a member of OpenAPI ${version} here: it is ignored`;
    return { pointer: `${instancePath}/${escapePointerToken(String(name))}`, message };
  }
  if (!instancePath.endsWith('/in') || valueAt(root, instancePath) !== 'querystring') return undefined;
  return { pointer: instancePath, message: 'in: querystring belongs to OpenAPI 3.2, and is read as there' };
}
