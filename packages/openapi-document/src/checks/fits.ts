import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import {
  asArray,
  asObject,
  type Finding,
  isObject,
  type Json,
  memoized,
  pointerTokens,
} from '../document/document.ts';
import { walk } from '../document/kinds.ts';
import { createLowering, definitionName, definitionRef } from '../document/lower.ts';
import { examplesOf } from '../document/media.ts';
import { kindOf } from '../document/media-types.ts';
import { patternEngine } from '../document/schema.ts';
import { stringifyJson } from '../json/exact.ts';
import { addDefinitions } from './ajv-definitions.ts';
import { reasonOf } from './reason.ts';

const { formats } = addFormats.default(new Ajv2020({ meta: false }));

/**
 * Returns true for the formats that are validated by default. Other formats are annotations (JSON
 * Schema 2020-12, Validation §7.2.3).
 */
export const isStandardFormat = (format: string): boolean => Object.hasOwn(formats, format);

/**
 * Returns the reason why an example or a default does not fit its schema. Read-only and write-only
 * properties may be missing. Returns `undefined` for a schema that cannot be compiled or refers to
 * itself for the same value, since other checks report it.
 */
export function misfitOf(root: Json, schema: Json, value: unknown): string | undefined {
  const validate = validatorsFor(root, root)(schema);
  const copy: unknown = JSON.parse(textOf(value));
  try {
    if (validate === undefined || validate(copy)) return undefined;
  } catch {
    // A schema that refers to itself overflows the stack.
    return undefined;
  }
  const [error] = validate.errors ?? [];
  return error && `${error.instancePath} ${reasonOf(error)}`.trim();
}

/**
 * Reports examples that do not match their schemas. Checks the examples of schemas, parameters,
 * headers, JSON bodies and URL-encoded forms.
 */
export function checkExamples(root: Json): Finding[] {
  const findings: Finding[] = [];
  const check = (schema: unknown, value: unknown, pointer: string) => {
    const misfit =
      isObject(schema) && value !== undefined ? misfitOf(root, schema, value) : undefined;
    if (misfit !== undefined)
      findings.push({ pointer, message: `the example does not fit its schema: ${misfit}` });
  };
  walk(root, 'document', '', (object, kind, objectPointer) => {
    if (kind === 'schema') {
      check(object, object.example, `${objectPointer}/example`);
      for (const [index, value] of asArray(object.examples).entries())
        check(object, value, `${objectPointer}/examples/${index}`);
    }
    const isBody =
      kind === 'mediaType' &&
      ['json', 'form'].includes(kindOf(pointerTokens(objectPointer).at(-1) ?? ''));
    if (!isBody && kind !== 'parameter' && kind !== 'header') return;
    for (const { value, name, pointer } of examplesOf(root, {
      source: object,
      pointer: objectPointer,
    })) {
      check(object.schema, value, `${pointer.slice(1)}${name === undefined ? '' : '/value'}`);
    }
  });
  return findings;
}

const UNCHECKED_KEYWORDS = /^(title|description|default|examples?|deprecated|externalDocs)$/;

/** The schemas of a document, lowered for both directions. */
export const loweringOf = memoized((root, _document: Json) => createLowering(root));

/** Schemas that differ only in annotations share a validator. */
const validatorsFor = memoized((root) => {
  const code = { regExp: patternEngine, optimize: false };
  const ajv = addFormats.default(
    new Ajv2020({ strict: false, logger: false, validateSchema: false, inlineRefs: false, code }),
  );
  const { $defs, lower } = loweringOf(root, root);
  const compiled = new Map<string, ValidateFunction>();

  return (schema: Json): ValidateFunction | undefined => {
    try {
      const assertions = Object.entries(asObject(lower(schema))).filter(
        ([key]) => !UNCHECKED_KEYWORDS.test(key),
      );
      const text = textOf(Object.fromEntries(assertions));
      addDefinitions(ajv, Object.keys($defs).map(definitionRef), (ref) =>
        JSON.parse(textOf($defs[definitionName(ref)])),
      );
      const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text));
      compiled.set(text, validate);
      return validate;
    } catch {
      return undefined;
    }
  };
});

/** Parsing the text replaces bigints by doubles, since Ajv rejects bigints. */
const textOf = (value: unknown): string => stringifyJson(value) ?? 'null';
