import { createRequire } from 'node:module';
import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { asArray, escapePointerToken, type Json, valueAt } from '../document/document.ts';
import { stringifyJson } from '../json/exact.ts';

/** What a check calls with each finding. */
export interface Report {
  /** Says why the document, or an operation that the place belongs to, cannot be served. */
  problem(pointer: string, message: string): void;
  /** Says what is served otherwise than the document says, or not checked. */
  notice(pointer: string, message: string): void;
}

/** Checks a document against the official JSON Schema of OpenAPI. Members that it does not know are ignored. */
export function checkStructure(root: Json, report: Report): void {
  const version = String(root.openapi).startsWith('3.2') ? '3.2' : '3.1';
  // Without `optimize`, Ajv compiles this schema in two thirds of the time.
  const code = { optimize: false };
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, logger: false, code });
  addFormats.default(ajv, ['email', 'regex', 'uri', 'uri-reference']);
  const validate = ajv.compile(require(`@seriousme/openapi-schema-validator/schemas/v${version}/schema.json`));
  validate({ ...root, openapi: `${version}.0` });
  const all = validate.errors ?? [];
  const errors = all
    .filter(({ keyword, instancePath }) => !OTHERWISE.some((rule) => rule.test(`${instancePath} ${keyword}`)))
    .map((error) => ({ ...error, name: error.params.unevaluatedProperty ?? error.params.additionalProperty }));
  const unknown = errors.flatMap(({ instancePath, name }) =>
    name === undefined ? [] : [{ name, pointer: `${instancePath}/${escapePointerToken(name)}` }],
  );
  const known = errors.filter(({ name }) => name === undefined);
  const precise = known.filter(({ keyword }) => !['if', 'oneOf', 'anyOf'].includes(keyword));
  // A branch of `if` or `oneOf` fails as well when only something is wrong inside it that is ignored.
  for (const error of precise.length === 0 && known.length === all.length ? known : precise) {
    const say = isAnnotation(root, error) ? report.notice : report.problem;
    say(error.instancePath, describe(root, error));
  }
  for (const { name, pointer } of unknown) {
    // A known member with an unknown one inside counts as unknown itself in some branches.
    if (unknown.some((other) => other.pointer.startsWith(`${pointer}/`))) continue;
    report.notice(pointer, `${name} is not a member of OpenAPI ${version} here: it is ignored`);
  }
}

const require = createRequire(import.meta.url);

/**
 * Places and keywords of errors that do not count: rules that other checks know better, and parts that say nothing about
 * the operations of the document itself. Some valid references are no URIs.
 */
const OTHERWISE = [
  /\/\$ref format$/,
  /\/responses (minProperties|required|if)$/,
  /(?<!\/parameters|\/additionalOperations) not$/,
  /^\/webhooks\/|^\/components\/(links|callbacks)\//,
  /^(\/paths\/[^/]+\/[a-z]+|\/components)\/(callbacks|responses\/[^/]+\/links)\//,
];

/** Members that only people read, or without which a value means the same. */
const ANNOTATION =
  /^\/(info|servers|tags|externalDocs)(\/|$)|\/(title|summary|description|externalDocs|url|tags|operationId|examples?|deprecated|schemas|\$comment|\$recursive(Anchor|Ref)|readOnly|writeOnly|format|required|exclusive(Min|Max)imum)$/;

/** Members that mean the same when they are `null` and when they are absent. */
const ABSENT = /\/(schema|content|parameters|requestBody|responses|headers|links|callbacks)$/;

/** Whether everything can be served in spite of an error. */
export const isAnnotation = (root: Json, { keyword, instancePath, params }: ErrorObject): boolean =>
  keyword === 'format' ||
  ANNOTATION.test(
    params.missingProperty && instancePath ? `${instancePath}/${params.missingProperty}` : instancePath,
  ) ||
  (ABSENT.test(instancePath) && valueAt(root, instancePath) === null);

/** What is wrong: the value that was found, and what would be right. */
export function describe(root: unknown, { instancePath, keyword, message = '', params }: ErrorObject): string {
  const allowed = asArray(params.allowedValues).join(', ');
  const name = instancePath.slice(instancePath.lastIndexOf('/') + 1);
  const found = stringifyJson(valueAt(root, instancePath)) ?? '';
  const but = keyword === 'required' || found.length > 60 ? '' : `, but ${name} is ${found}`;
  return (allowed === '' ? message : `${message}: ${allowed}`) + but;
}
