import schema31 from '@seriousme/openapi-schema-validator/schemas/v3.1/schema.json' with {
  type: 'json',
};
import schema32 from '@seriousme/openapi-schema-validator/schemas/v3.2/schema.json' with {
  type: 'json',
};
import { stringifyJson } from '../json/exact.ts';
import { UNLIMITED } from '../schema/budget.ts';
import { KEYWORDS, SUBSCHEMA } from '../schema/keywords.ts';
import type { Violation } from '../schema/model.ts';
import { Schemas } from '../schema/schemas.ts';
import {
  asObject,
  escapePointerToken,
  type Json,
  onFirstUse,
  pointerTokens,
  valueAt,
} from '../source/document.ts';
import { type Kind, walk } from '../source/kinds.ts';

export interface Report {
  /**
   * Reports an error. The operations that use the part at the pointer cannot be served. If it may
   * affect any operation, the document cannot be served.
   */
  problem(pointer: string, message: string): void;
  /** Reports a part that is not served or not checked as the document says. */
  notice(pointer: string, message: string): void;
}

const READ_ONLY = { 'x-read-only': { enum: ['reject'] } };

/** The keywords of schemas that JSON Schema does not have (OpenAPI 3.2 §4.24.2). */
const OPENAPI_KEYWORDS: Json = {
  ...READ_ONLY,
  nullable: { type: 'boolean' },
  xml: { type: 'object' },
  externalDocs: { $ref: '#/$defs/external-documentation' },
  discriminator: {
    type: 'object',
    required: ['propertyName'],
    properties: {
      propertyName: { type: 'string' },
      mapping: { type: 'object' },
      defaultMapping: { type: 'string' },
    },
    patternProperties: { '^x-': true },
    additionalProperties: false,
  },
};

/** The schemas of the values of all keywords of Schema Objects. */
export const SCHEMA_KEYWORDS: Json = { ...KEYWORDS, ...OPENAPI_KEYWORDS };

/** Members, or their values, that are not read. */
const UNSUPPORTED = ['itemEncoding', 'prefixEncoding', 'style: cookie'];

/**
 * Matches references of the official schemas to objects of other kinds. Each object is checked
 * without the objects inside it, so that an error is reported for one object only.
 */
const OBJECTS =
  /\/(components|paths|path-item|operation|responses|encoding|media-type|[a-z-]+-or-reference)$/;

/** Returns a function that returns the schema of the objects of a kind. */
const schemasOf = onFirstUse((version: '3.1' | '3.2') => {
  const text = JSON.stringify(version === '3.2' ? schema32 : schema31);
  const official: Json = JSON.parse(text, (key, value) => {
    // No operation depends on URLs and email addresses.
    if (key === 'format') return undefined;
    const { $ref } = asObject(value);
    if (typeof $ref !== 'string') return value;
    if ($ref === '#/$defs/schema') return SUBSCHEMA;
    return OBJECTS.test($ref) ? { type: 'object' } : value;
  });
  const schemas = new Schemas({
    ...official,
    // The version is checked when the document is loaded.
    properties: { ...asObject(official.properties), openapi: true, ...READ_ONLY },
    $defs: {
      ...asObject(official.$defs),
      schema: { properties: SCHEMA_KEYWORDS },
    },
  });
  return onFirstUse((kind: Kind) =>
    schemas.at(kind === 'document' ? '' : `/$defs/${definitionOf(kind)}`, 'example'),
  );
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
  const schemaOf = schemasOf(version);
  walk(root, 'document', '', (object, kind, pointer) => {
    checkSupport(object, pointer, report);
    const isReference = typeof object.$ref === 'string' && kind !== 'schema' && kind !== 'pathItem';
    if (isReference || (kind !== 'schema' && UNSERVED.test(pointer))) return;
    const { violations = [] } = schemaOf(kind).check(object, UNBOUNDED);
    for (const violation of relevantOf(violations, kind)) {
      const { path, keyword } = violation;
      const parent = path.slice(0, path.lastIndexOf('/'));
      if (isUnknown(violation)) {
        const [name = ''] = pointerTokens(path).slice(-1);
        const isRead = parent === '' && isMember32(kind, name);
        report.notice(pointer + path, `${name} ${unknownMessage(name, version, isRead)}`);
        continue;
      }
      const level = isHarmless(object, violation, kind) ? 'notice' : 'problem';
      const place = keyword === 'required' ? parent : path;
      report[level](pointer + place, messageOf(object, violation, pointer));
    }
  });
}

/** The document is trusted. */
const UNBOUNDED = { budget: UNLIMITED, maxViolations: Number.POSITIVE_INFINITY };

function unknownMessage(name: string, version: string, isRead: boolean): string {
  // `declaredFor` accepts these keys in any case.
  if (/^[1-5]xx$/i.test(name)) return `must be in upper case: it is read as ${name.toUpperCase()}`;
  const effect = isRead ? 'read as in OpenAPI 3.2. Write openapi: 3.2.0' : 'ignored';
  return `is not a member of OpenAPI ${version} here: it is ${effect}`;
}

function checkSupport(object: Json, pointer: string, { notice }: Report): void {
  for (const text of UNSUPPORTED) {
    const [name = '', value = object[name]] = text.split(': ');
    if (value !== undefined && object[name] === value)
      notice(`${pointer}/${name}`, `${text} is not supported: it is ignored`);
  }
}

/** Returns the violations without those that follow from others. */
function relevantOf(violations: readonly Violation[], kind: Kind): readonly Violation[] {
  const mistyped = violations.filter(({ keyword }) => keyword === 'type').map(({ path }) => path);
  const relevant = violations.filter(
    ({ path, keyword }) =>
      !IGNORED.test(`${kind}${path} ${keyword}`) && (keyword !== 'not' || !mistyped.includes(path)),
  );
  // Without it, nothing is known about the other members.
  const selecting = relevant.filter(({ path }) => path === SELECTORS[kind]);
  return selecting.length > 0 ? selecting : relevant;
}

/** The members that tell which others an object has. */
const SELECTORS: Partial<Record<Kind, string>> = { parameter: '/in', securityScheme: '/type' };

const isUnknown = ({ keyword }: Violation): boolean =>
  keyword === 'unevaluatedProperties' || keyword === 'additionalProperties';

/** Other checks report missing responses better. */
const IGNORED = /^responses(\/default)? (minProperties|required)$/;

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
  ...['operationId', 'deprecated', 'schemas', '$comment'],
  ...['readOnly', 'writeOnly', 'format', 'required', 'exclusiveMinimum', 'exclusiveMaximum'],
]);

/** Members for which `null` is the same as absent. */
const ABSENT = /\/(schema|content|parameters|requestBody|responses|headers|links|callbacks)$/;

function isHarmless(object: Json, { path, keyword, params }: Violation, kind: Kind): boolean {
  const [member = '', ...inside] = pointerTokens(path);
  return (
    kind === 'example' ||
    keyword === 'propertyNames' ||
    params?.required !== undefined ||
    IGNORABLE.has(member) ||
    (inside.length === 0 && OPTIONAL.has(member)) ||
    (ABSENT.test(path) && valueAt(object, path) === null)
  );
}

/** Formats a violation of the object at a pointer, with the expected and the actual value. */
function messageOf(object: Json, violation: Violation, pointer: string): string {
  const { path, keyword, params = {}, message } = violation;
  const place = pointer + path;
  const name = place.slice(place.lastIndexOf('/') + 1);
  const value = valueAt(object, path);
  if (keyword === 'required') return `the member ${params.missingProperty} is missing`;
  if (keyword === 'type' && typeof asObject(value).$ref === 'string')
    return `OpenAPI has no $ref here: ${name} ${message}`;
  if (keyword === 'propertyNames') return `${name} ${message}`;
  const isSchema = keyword === 'type' && String(params.type) === 'boolean,object';
  const reason = isSchema ? 'must be a schema: an object, true or false' : message;
  const valueText = stringifyJson(value) ?? '';
  const isLong = place === '' || valueText.length > 60;
  return reason + (isLong ? '' : `, but ${name} is ${valueText}`);
}
