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
  valueAt,
} from '../document/document.ts';
import { walk } from '../document/kinds.ts';
import { examplesOf } from '../document/media.ts';
import { kindOf } from '../document/media-types.ts';
import { allOfSchemas, patternEngine } from '../document/schema.ts';
import { stringifyJson } from '../json/exact.ts';

const { formats } = addFormats.default(new Ajv2020({ meta: false }));

/** Whether a format is known. An unknown format is an annotation (JSON Schema 2020-12, Validation §7.2.3). */
export const knownFormat = (format: string): boolean => Object.hasOwn(formats, format);

/**
 * Why a value of the document does not fit a schema there; `undefined` if it fits, or if the schema cannot be compiled:
 * other checks report that. Properties that are read-only or write-only may be missing, as they are in one direction.
 */
export function misfitOf(root: Json, schema: Json, value: unknown): string | undefined {
  const validate = validatorsFor(root, root)(schema);
  if (validate === undefined || validate(JSON.parse(stringifyJson(value) ?? 'null'))) return undefined;
  const [error] = validate.errors ?? [];
  return `${error?.instancePath ?? ''} ${error?.message ?? ''}`.trim();
}

/** The examples that do not fit their schemas: of schemas, parameters, headers, and bodies in JSON or forms. */
export function checkExamples(root: Json): Finding[] {
  const findings: Finding[] = [];
  const check = (schema: unknown, value: unknown, pointer: string) => {
    const misfit = isObject(schema) && value !== undefined ? misfitOf(root, schema, value) : undefined;
    if (misfit !== undefined) findings.push({ pointer, message: `the example does not fit its schema: ${misfit}` });
  };
  walk(root, 'document', '', (object, kind, at) => {
    if (kind === 'schema') {
      check(object, object.example, `${at}/example`);
      for (const [index, value] of asArray(object.examples).entries()) check(object, value, `${at}/examples/${index}`);
    }
    const isBody = kind === 'mediaType' && ['json', 'form'].includes(kindOf(pointerTokens(at).at(-1) ?? ''));
    if (!isBody && kind !== 'parameter' && kind !== 'header') return;
    for (const { value, name, pointer = '' } of examplesOf(root, { source: object, pointer: at })) {
      check(object.schema, value, `${pointer.slice(1)}${name === undefined ? '' : '/value'}`);
    }
  });
  return findings;
}

const ANNOTATION = /^(title|description|default|examples?|deprecated|externalDocs|discriminator|\$id)$/;

/** Compiles the schemas of a document. Those that are alike have one validator. */
const validatorsFor = memoized((root) => {
  const code = { regExp: patternEngine, optimize: false };
  const ajv = addFormats.default(
    new Ajv2020({ strict: false, logger: false, validateSchema: false, inlineRefs: false, code }),
  );
  const names = new Map<string, string>();
  const nameOf = (key: string, schema: () => Json): string => {
    const name = names.get(key) ?? `schema${names.size}`;
    if (names.has(key)) return name;
    names.set(key, name);
    ajv.addSchema(schema(), name);
    return name;
  };
  const read = (part: unknown): unknown =>
    isObject(part)
      ? readSchema(part)
      : Array.isArray(part)
        ? part.map(read)
        : typeof part === 'bigint'
          ? Number(part)
          : part;

  /** A schema as Ajv reads it: without bigints, and with names in place of references. */
  function readSchema(schema: Json): Json {
    const { $ref, required, properties } = schema;
    const isOneWay = (name: string) =>
      allOfSchemas(root, asObject(properties)[name]).some((part) => part.readOnly === true || part.writeOnly === true);
    return {
      ...Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, read(part)])),
      ...(typeof $ref === 'string' && { $ref: nameOf($ref, () => readSchema(asObject(valueAt(root, $ref)))) }),
      ...(Array.isArray(required) && { required: required.filter((name) => !isOneWay(name)) }),
    };
  }

  return (schema: Json): ValidateFunction | undefined => {
    try {
      const entries = Object.entries(schema).filter(([key]) => !ANNOTATION.test(key));
      const assertions = readSchema(Object.fromEntries(entries));
      return ajv.getSchema(nameOf(JSON.stringify(assertions), () => assertions));
    } catch {
      return undefined;
    }
  };
});
