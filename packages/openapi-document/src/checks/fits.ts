import { Ajv2020, type FuncKeywordDefinition, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { asObject, type Json, memoized } from '../document/document.ts';
import { allOfSchemas, patternEngine } from '../document/schema.ts';
import { stringifyJson } from '../json/exact.ts';

const ANNOTATION = /^(title|description|default|examples?|deprecated|externalDocs|discriminator|\$id)$/;

const { formats } = addFormats.default(new Ajv2020({ meta: false }));

/** Whether a format is known. An unknown format is an annotation (JSON Schema 2020-12, Validation §7.2.3). */
export const knownFormat = (format: string): boolean => Object.hasOwn(formats, format);

/** A value as Ajv reads it: without bigints. */
const inDoubles = (value: unknown): string => stringifyJson(value) ?? 'null';

/** A compiled keyword of Ajv. Leaves its violations in `errors`. */
type KeywordValidator = ReturnType<NonNullable<FuncKeywordDefinition['compile']>>;

/** The validators for a document, by the text of the schema. Many schemas are alike. */
const validatorsFor = memoized((root) => ({
  ajv: ajvFor(root),
  known: new Map<string, ValidateFunction | undefined>(),
}));

/**
 * Why a value of the document does not fit a schema there; `undefined` if it fits, or if the schema cannot be compiled:
 * other checks report that. Properties that are read-only or write-only may be missing, as they are in one direction.
 */
export function misfitOf(root: Json, schema: Json, value: unknown): string | undefined {
  const { ajv, known } = validatorsFor(root, root);
  const entries = Object.entries(schema).filter(([key]) => !ANNOTATION.test(key));
  const text = inDoubles(Object.fromEntries(entries)).replaceAll('"$ref":"#/', '"$ref":"document#/');
  if (!known.has(text)) known.set(text, compiled(root, ajv, text));
  const validate = known.get(text);
  if (validate === undefined || validate(JSON.parse(inDoubles(value)))) return undefined;
  const [error] = validate.errors ?? [];
  return `${error?.instancePath ?? ''} ${error?.message ?? ''}`.trim();
}

/** Whether the default of a schema fits that schema. It is true where there is no default. */
export const defaultFits = (root: Json, schema: Json): boolean =>
  !Object.hasOwn(schema, 'default') || misfitOf(root, schema, schema.default) === undefined;

function ajvFor(root: Json): Ajv2020 {
  const code = { regExp: patternEngine, optimize: false };
  const ajv = new Ajv2020({ strict: false, logger: false, validateSchema: false, inlineRefs: false, code });
  addFormats.default(ajv);
  // That of the library takes any integer.
  ajv.addFormat('int64', { type: 'number', validate: (value: number) => Math.abs(value) <= 2 ** 63 });
  const isOneWay = (property: unknown) =>
    allOfSchemas(root, property).some(({ readOnly, writeOnly }) => readOnly === true || writeOnly === true);
  ajv.removeKeyword('required');
  ajv.addKeyword({
    keyword: 'required',
    type: 'object',
    errors: true,
    compile(names: readonly string[], { properties }) {
      const needed = names.filter((name) => !isOneWay(asObject(properties)[name]));
      const validate: KeywordValidator = (value: object) => {
        const missing = needed.find((name) => !Object.hasOwn(value, name));
        validate.errors = missing === undefined ? [] : [{ message: `must have required property '${missing}'` }];
        return missing === undefined;
      };
      return validate;
    },
  });
  return ajv;
}

function compiled(root: Json, ajv: Ajv2020, text: string): ValidateFunction | undefined {
  try {
    // Only where it is needed: Ajv takes 130 ms to read a document of 13 MB.
    if (text.includes('"$ref"') && ajv.schemas.document === undefined) {
      ajv.addSchema(JSON.parse(inDoubles({ components: root.components, paths: root.paths })), 'document');
    }
    return ajv.compile(JSON.parse(text));
  } catch {
    return undefined;
  }
}
