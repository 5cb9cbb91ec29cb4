import schema31 from '@seriousme/openapi-schema-validator/schemas/v3.1/schema.json' with {
  type: 'json',
};
import schema32 from '@seriousme/openapi-schema-validator/schemas/v3.2/schema.json' with {
  type: 'json',
};
import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import {
  escapePointerToken,
  isObject,
  type Json,
  onFirstUse,
  pointersTo,
  pointerTokens,
  valueAt,
} from '../document/document.ts';
import { type MemberKind, memberKind } from '../document/kinds.ts';
import { stringifyJson } from '../json/exact.ts';
import { reasonOf } from './reason.ts';

/** Receives the findings of a check. */
export interface Report {
  /**
   * Reports an error. The operations that use the part at the pointer cannot be served. If it may
   * affect any operation, the document cannot be served.
   */
  problem(pointer: string, message: string): void;
  /** Reports a part that is not served or not checked as the document says. */
  notice(pointer: string, message: string): void;
}

const SCHEMAS = { '3.1': schema31, '3.2': schema32 };

/** Compiles the official JSON Schema of a version once, which takes most of the time of a check. */
const validatorOf = onFirstUse((version: keyof typeof SCHEMAS) => {
  // Without `optimize`, Ajv compiles this schema in two thirds of the time.
  const code = { optimize: false };
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    validateSchema: false,
    verbose: true,
    logger: false,
    code,
  });
  addFormats.default(ajv, ['email', 'regex', 'uri', 'uri-reference']);
  return ajv.compile(SCHEMAS[version]);
});

/** Checks a document against the official JSON Schema of OpenAPI. Unknown members are notices. */
export function checkStructure(root: Json, report: Report): void {
  const version = String(root.openapi).startsWith('3.2') ? '3.2' : '3.1';
  const validate = validatorOf(version);
  validate({ ...root, openapi: `${version}.0` });
  const schemaErrors = validate.errors ?? [];
  const errors = schemaErrors
    .filter(
      ({ keyword, instancePath }) =>
        !IGNORED.some((rule) => rule.test(`${instancePath} ${keyword}`)),
    )
    .map((error) => ({
      ...error,
      name: error.params.unevaluatedProperty ?? error.params.additionalProperty,
    }));
  const unknown = errors.flatMap(({ instancePath, name }) =>
    name === undefined
      ? []
      : [{ name, object: instancePath, pointer: `${instancePath}/${escapePointerToken(name)}` }],
  );
  const enclosing = new Set(unknown.flatMap(({ pointer }) => pointersTo(pointer).slice(0, -1)));
  const otherErrors = errors.filter(({ name }) => name === undefined);
  const precise = otherErrors.filter(({ keyword }) => !BRANCHES.includes(keyword));
  // An ignored error inside a branch of `if` or `oneOf` makes the whole keyword fail. So a failed
  // keyword is reported only if there are no other errors.
  const isOnlyBranches = precise.length === 0 && otherErrors.length === schemaErrors.length;
  for (const error of isOnlyBranches ? otherErrors : precise) {
    const level = isHarmless(root, error, error.instancePath) ? 'notice' : 'problem';
    report[level](error.instancePath, describe(root, error));
  }
  // If `in`, `style` or `type` is invalid, or if members exclude each other, the branches that
  // declare the other members fail. Ajv then reports these members as unknown.
  const withFailedBranch = new Set(
    errors.map((error) => {
      const { keyword, instancePath } = error;
      if (keyword === 'enum') return instancePath.slice(0, instancePath.lastIndexOf('/'));
      return exclusiveMembers(error) && instancePath;
    }),
  );
  for (const { name, object, pointer } of unknown) {
    // Ajv also reports a member as unknown if it contains an unknown member.
    if (enclosing.has(pointer) || withFailedBranch.has(object)) continue;
    // `declaredFor` accepts these keys in any case.
    const isStatusRange = /^[1-5]xx$/i.test(name);
    report.notice(
      pointer,
      isStatusRange
        ? `${name} must be in upper case: it is read as ${name.toUpperCase()}`
        : `${name} is not a member of OpenAPI ${version} here: it is ignored`,
    );
  }
}

/** Keywords that fail if a schema inside them fails. The errors of that schema are more precise. */
const BRANCHES = ['if', 'oneOf', 'anyOf', 'propertyNames'];

/** Matches the pointers and keywords of errors that are ignored. */
const IGNORED = [
  // Some references that can be resolved are not URIs.
  /\/\$ref format$/,
  // Other checks report missing responses better.
  /\/responses (minProperties|required|if)$/,
  // These parts do not affect operations.
  /^\/webhooks\/|^\/components\/(links|callbacks)\//,
  /^(\/paths\/[^/]+\/[a-z]+|\/components)\/(callbacks|responses\/[^/]+\/links)\//,
];

/** Members that are documentation only. Errors inside them are notices. */
const ANNOTATIONS = new Set([
  'info',
  'servers',
  'tags',
  'title',
  'summary',
  'description',
  'externalDocs',
  'example',
  'examples',
  'xml',
]);

/** Members that are not required for serving, or that other checks report better. */
const OPTIONAL = new Set([
  'operationId',
  'deprecated',
  'schemas',
  '$comment',
  '$recursiveAnchor',
  '$recursiveRef',
  'readOnly',
  'writeOnly',
  'format',
  'required',
  'exclusiveMinimum',
  'exclusiveMaximum',
]);

/** Returns true if a pointer is in documentation, or at a member that serving does not need. */
export function isAnnotation(pointer: string): boolean {
  const tokens = pointerTokens(pointer);
  let kind: MemberKind | undefined = 'document';
  for (const [index, token] of tokens.entries()) {
    if (typeof kind === 'string') {
      if (ANNOTATIONS.has(token)) return true;
      if (index === tokens.length - 1 && OPTIONAL.has(token)) return true;
    }
    kind = memberKind(kind, token);
    if (kind === undefined) return false;
  }
  return false;
}

/** Members for which `null` is the same as absent. */
const ABSENT = /\/(schema|content|parameters|requestBody|responses|headers|links|callbacks)$/;

/** Returns true if an error at a pointer does not affect operations. */
export function isHarmless(root: Json, error: ErrorObject, pointer: string): boolean {
  const { keyword, params } = error;
  if (keyword === 'format' || exclusiveMembers(error) !== undefined) return true;
  const { missingProperty } = params;
  const place = missingProperty === undefined ? pointer : `${pointer}/${missingProperty}`;
  return isAnnotation(place) || (ABSENT.test(pointer) && valueAt(root, pointer) === null);
}

/** Returns the members that exclude each other, if an error is about such members. */
function exclusiveMembers({
  keyword,
  schema,
  schemaPath,
}: ErrorObject): readonly unknown[] | undefined {
  if (keyword !== 'not' || !isObject(schema) || !Array.isArray(schema.required)) return undefined;
  const [, present] = /\/dependentSchemas\/([^/]+)\/not$/.exec(schemaPath) ?? [];
  return present === undefined ? schema.required : [present, ...schema.required];
}

/** Formats an error with the expected and the actual value. */
export function describe(root: unknown, error: ErrorObject): string {
  const { instancePath, keyword, params } = error;
  const name = instancePath.slice(instancePath.lastIndexOf('/') + 1);
  const value = valueAt(root, instancePath);
  if (isObject(value) && typeof value.$ref === 'string' && keyword === 'type')
    return `OpenAPI has no $ref here: ${name} ${reasonOf(error)}`;
  const names = exclusiveMembers(error);
  if (names !== undefined)
    return `${names.join(' and ')} cannot be used together: remove one of them`;
  if (name === 'parameters' && keyword === 'not')
    return 'parameters in query and in querystring cannot be used together';
  if (name === 'additionalOperations' && keyword === 'not')
    return 'declare methods such as GET as members of the path item, in lower case';
  const isSchema = keyword === 'type' && String(params.type) === 'object,boolean';
  const reason = isSchema ? 'must be a schema: an object, true or false' : reasonOf(error);
  const valueText = stringifyJson(value) ?? '';
  const isLong = keyword === 'required' || valueText.length > 60;
  return reason + (isLong ? '' : `, but ${name} is ${valueText}`);
}
