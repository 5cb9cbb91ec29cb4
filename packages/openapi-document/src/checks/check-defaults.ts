import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Json } from '../document/document.ts';

const ANNOTATION = /^(title|description|examples?|deprecated|externalDocs|discriminator|\$id)$/;

/** The results for a document, by the text of the schema. Many schemas are alike. */
interface Defaults {
  readonly ajv: Ajv2020;
  readonly known: Map<string, boolean>;
}

const byDocument = new WeakMap<Json, Defaults>();

/**
 * Whether the default of a schema fits that schema. It is true where there is no default, and where the schema cannot be
 * compiled: other checks report that.
 */
export function defaultFits(root: Json, schema: Json): boolean {
  if (!Object.hasOwn(schema, 'default')) return true;
  const defaults = byDocument.get(root) ?? { ajv: ajvFor(root), known: new Map() };
  byDocument.set(root, defaults);
  const entries = Object.entries(schema).filter(([key]) => !ANNOTATION.test(key));
  const text = JSON.stringify(Object.fromEntries(entries)).replaceAll('"$ref":"#/', '"$ref":"document#/');
  const known = defaults.known.get(text) ?? validates(defaults.ajv, JSON.parse(text));
  defaults.known.set(text, known);
  return known;
}

function ajvFor(root: Json): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, logger: false, validateSchema: false });
  addFormats.default(ajv);
  return ajv.addSchema({ components: root.components, paths: root.paths }, 'document');
}

function validates(ajv: Ajv2020, schema: Json): boolean {
  try {
    return ajv.validate(schema, schema.default);
  } catch {
    return true;
  }
}
