import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Json } from './document.ts';

const ANNOTATIONS = [
  'title',
  'description',
  'example',
  'examples',
  'deprecated',
  'externalDocs',
  'discriminator',
  '$id',
];

/**
 * Makes a check whether the default of a schema fits that schema. It is true where there is no default, and where the
 * schema cannot be compiled: other checks report that.
 */
export function defaultChecker(root: Json): (schema: Json) => boolean {
  const known = new Map<string, boolean>();
  let ajv: Ajv2020 | undefined;

  return (schema) => {
    if (!Object.hasOwn(schema, 'default')) return true;
    const entries = Object.entries(schema).filter(([key]) => !ANNOTATIONS.includes(key));
    const text = JSON.stringify(Object.fromEntries(entries)).replaceAll('"$ref":"#/', '"$ref":"document#/');
    let fits = known.get(text);
    if (fits === undefined) {
      ajv ??= ajvFor(root);
      fits = validates(ajv, JSON.parse(text));
      known.set(text, fits);
    }
    return fits;
  };
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
