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
  asObject,
  escapePointerToken,
  isObject,
  type Json,
  mapMembers,
  onFirstUse,
  pointerTokens,
  valueAt,
} from '../document/document.ts';
import { type Kind, memberKind, walk } from '../document/kinds.ts';
import { stringifyJson } from '../json/exact.ts';
import { reasonOf } from './reason.ts';

export interface Report {
  /**
   * Reports an error. The operations that use the part at the pointer cannot be served. If it may
   * affect any operation, the document cannot be served.
   */
  problem(pointer: string, message: string): void;
  /** Reports a part that is not served or not checked as the document says. */
  notice(pointer: string, message: string): void;
}

const METASCHEMA = 'https://json-schema.org/draft/2020-12/schema';

const READ_ONLY = { 'x-read-only': { enum: ['reject'] } };

/** The keywords of schemas that JSON Schema does not have (OpenAPI 3.2 §4.24.2). */
const OPENAPI_KEYWORDS = {
  properties: {
    ...READ_ONLY,
    nullable: { type: 'boolean' },
    xml: { type: 'object' },
    externalDocs: { $ref: 'openapi#/$defs/external-documentation' },
    discriminator: {
      type: 'object',
      required: ['propertyName'],
      properties: {
        propertyName: { type: 'string' },
        mapping: { type: 'object' },
        defaultMapping: { type: 'string' },
        'x-selects': { type: 'boolean' },
      },
      patternProperties: { '^x-': true },
      additionalProperties: false,
    },
  },
};

/** The kinds of objects that have an extension of this project. */
const EXTENSIONS: Readonly<Record<string, { kinds: readonly Kind[]; place: string }>> = {
  'x-body-limit': { kinds: ['mediaType'], place: 'in a media type, beside the schema' },
  'x-read-only': {
    kinds: ['document', 'schema'],
    place: 'in a schema or at the top of the document',
  },
  'x-selects': { kinds: ['discriminator'], place: 'in a discriminator, beside propertyName' },
};

/**
 * Matches references of the official schemas to objects of other kinds. Each object is checked
 * without the objects inside it, so that an error is reported for one object only.
 */
const OBJECTS =
  /\/(components|paths|path-item|operation|responses|encoding|media-type|[a-z-]+-or-reference)$/;

/** Returns a function that compiles the official JSON Schema of a kind when it is first used. */
const validatorsOf = onFirstUse((version: '3.1' | '3.2') => {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    validateSchema: false,
    verbose: true,
    logger: false,
    // Compiles these schemas in two thirds of the time.
    code: { optimize: false },
  });
  addFormats.default(ajv, ['email', 'uri', 'uri-reference']);
  const text = JSON.stringify(version === '3.2' ? schema32 : schema31);
  const { $id: _, ...schema } = JSON.parse(text, (_key, value) =>
    OBJECTS.test(asObject(value).$ref as string) ? { type: 'object' } : value,
  );
  ajv.addSchema(schema, 'openapi');
  return onFirstUse((kind: Kind) => {
    if (kind === 'schema') return ajv.compile({ allOf: [{ $ref: METASCHEMA }, OPENAPI_KEYWORDS] });
    if (kind === 'document')
      return ajv.compile({ allOf: [{ $ref: 'openapi' }, { properties: READ_ONLY }] });
    return ajv.getSchema(`openapi#/$defs/${definitionOf(kind)}`);
  });
});

/** Returns the name of the definition of a kind in the official JSON Schemas. */
const definitionOf = (kind: Kind): string =>
  kind.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Returns true for a member of OpenAPI 3.2. Documents of older versions may use it, too. */
const isMember32 = (kind: Kind, name: string): boolean =>
  valueAt(schema32.$defs, `/${definitionOf(kind)}/properties/${escapePointerToken(name)}`) !==
  undefined;

/**
 * Checks the objects of a document against the official JSON Schema of OpenAPI, and its schemas
 * against that of JSON Schema 2020-12. Unknown members are notices.
 */
export function checkStructure(root: Json, report: Report): void {
  const version = String(root.openapi).startsWith('3.2') ? '3.2' : '3.1';
  const validatorOf = validatorsOf(version);
  walk(root, 'document', '', (object, kind, pointer) => {
    checkExtensions(object, kind, pointer, report);
    const isReference = typeof object.$ref === 'string' && kind !== 'schema' && kind !== 'pathItem';
    if (isReference || (kind !== 'schema' && UNSERVED.test(pointer))) return;
    const validate = validatorOf(kind);
    if (validate === undefined || validate(checkedValue(object, kind, version))) return;
    for (const error of preciseErrors(validate.errors ?? [], kind)) {
      const { instancePath } = error;
      const unknown = unknownMember(error);
      if (unknown === undefined) {
        const level = isHarmless(object, error, kind) ? 'notice' : 'problem';
        report[level](pointer + instancePath, messageOf(object, error, pointer));
        continue;
      }
      const member = `${pointer}${instancePath}/${escapePointerToken(unknown)}`;
      const effect =
        instancePath === '' && isMember32(kind, unknown)
          ? 'it is read as in OpenAPI 3.2. Write openapi: 3.2.0'
          : 'it is ignored';
      // `declaredFor` accepts these keys in any case.
      const isStatusRange = /^[1-5]xx$/i.test(unknown);
      const message = isStatusRange
        ? `must be in upper case: it is read as ${unknown.toUpperCase()}`
        : `is not a member of OpenAPI ${version} here: ${effect}`;
      report.notice(member, `${unknown} ${message}`);
    }
  });
}

function checkExtensions(object: Json, kind: Kind, pointer: string, { notice }: Report): void {
  for (const [name, { kinds, place }] of Object.entries(EXTENSIONS)) {
    if (object[name] === undefined || kinds.includes(kind)) continue;
    notice(`${pointer}/${name}`, `${name} is ignored here: write it ${place}`);
  }
}

function checkedValue(object: Json, kind: Kind, version: string): Json {
  if (kind === 'document') return { ...object, openapi: `${version}.0` };
  if (kind !== 'schema') return object;
  const withoutParts = (part: unknown) => (isObject(part) ? true : part);
  // Ajv does not support the dialect of OpenAPI, and rejects bigints.
  const { $schema: _, ...keywords } = object;
  return asObject(
    mapMembers(keywords, (value, key) => {
      const partKind = memberKind('schema', key);
      if (partKind === 'schema') return withoutParts(value);
      if (Array.isArray(partKind)) return mapMembers(value, withoutParts);
      return typeof value === 'bigint' ? Number(value) : value;
    }),
  );
}

/** Returns the errors without those that follow from others. */
function preciseErrors(errors: readonly ErrorObject[], kind: Kind): readonly ErrorObject[] {
  const relevant = errors.filter(
    ({ instancePath, keyword }) => !IGNORED.test(`${kind}${instancePath} ${keyword}`),
  );
  const precise = relevant.filter(({ keyword }) => !BRANCHES.includes(keyword));
  // Ignored errors also make `if` and `oneOf` fail.
  if (precise.length === 0) return relevant.length === errors.length ? relevant : [];
  if (kind === 'schema')
    return [...new Map(precise.toReversed().map((error) => [error.instancePath, error])).values()];
  // An invalid `in`, `style` or `type` makes Ajv report valid members as unknown.
  const isSelector = (error: ErrorObject) =>
    error.keyword === 'enum' || exclusiveMembers(error) !== undefined;
  return precise.some(isSelector)
    ? precise.filter((error) => unknownMember(error) === undefined)
    : precise;
}

const unknownMember = ({ params }: ErrorObject): string | undefined =>
  params.unevaluatedProperty ?? params.additionalProperty;

/** Keywords that fail if a schema inside them fails. The errors of that schema are more precise. */
const BRANCHES = ['if', 'oneOf', 'anyOf', 'propertyNames'];

/**
 * Other checks report missing responses better. Some references that can be resolved are not URIs.
 */
const IGNORED = /^responses (minProperties|required|if)$|\/\$ref format$/;

/** Matches the pointers of objects that do not affect operations. */
const UNSERVED = new RegExp(
  [
    '^/webhooks/',
    '^/components/links/',
    '^(/paths/[^/]+/[a-z]+|/components)/(callbacks|responses/[^/]+/links)/',
  ].join('|'),
);

/** Members that are documentation, or that are ignored if invalid. Their errors are notices. */
const IGNORABLE = new Set([
  ...['info', 'servers', 'tags', 'title', 'summary', 'description', 'externalDocs', 'example'],
  ...['examples', 'xml', 'discriminator', 'nullable', 'x-read-only'],
]);

/** Members that are not required for serving, or that other checks report better. */
const OPTIONAL = new Set([
  ...['operationId', 'deprecated', 'schemas', '$comment', '$recursiveAnchor', '$recursiveRef'],
  ...['readOnly', 'writeOnly', 'format', 'required', 'exclusiveMinimum', 'exclusiveMaximum'],
]);

/** Members for which `null` is the same as absent. */
const ABSENT = /\/(schema|content|parameters|requestBody|responses|headers|links|callbacks)$/;

function isHarmless(object: Json, error: ErrorObject, kind: Kind): boolean {
  const { instancePath, keyword, params } = error;
  const path = [instancePath, params.missingProperty].filter((part) => part !== undefined);
  const [member = '', ...inside] = pointerTokens(path.join('/'));
  return (
    kind === 'example' ||
    keyword === 'format' ||
    exclusiveMembers(error) !== undefined ||
    IGNORABLE.has(member) ||
    (inside.length === 0 && OPTIONAL.has(member)) ||
    (ABSENT.test(instancePath) && valueAt(object, instancePath) === null)
  );
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

/** Formats an error in the object at a pointer, with the expected and the actual value. */
export function messageOf(object: unknown, error: ErrorObject, pointer: string): string {
  const { instancePath, keyword, params } = error;
  const valuePointer = pointer + instancePath;
  const name = valuePointer.slice(valuePointer.lastIndexOf('/') + 1);
  const value = valueAt(object, instancePath);
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
