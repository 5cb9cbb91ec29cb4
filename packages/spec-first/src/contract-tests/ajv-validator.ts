import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import {
  asObject,
  escapePointerToken,
  isObject,
  type Json,
  type MediaType,
  onFirstUse,
  refTo,
  schemas,
} from 'openapi-document';

/**
 * Makes a second validator of responses: Ajv with the original schemas of the document. It finds
 * violations that the server's validator misses because it uses lowered schemas.
 *
 * @returns a function that returns the violations of a JSON body. It returns `undefined` for a
 *   valid body, and if Ajv cannot compile the schema.
 */
export function createAjvValidator(root: Json) {
  const writeOnly = writeOnlyNames(root);
  const components = asObject(toAjvSchema(writeOnly, asObject(root.components)));
  const ajv = addFormats.default(
    new Ajv2020({
      strict: false,
      logger: false,
      validateSchema: false,
      multipleOfPrecision: 9,
      schemas: { document: { components } },
    }),
  );
  const definitions = new Map(
    Object.entries(asObject(components.schemas)).map(([name, schema]) => [
      `document${refTo(`/components/schemas/${escapePointerToken(name)}`)}`,
      schema === false ? false : asObject(schema),
    ]),
  );
  const validatorOf = onFirstUse((schema: unknown): ((text: string) => string | undefined) => {
    try {
      schemas.addDefinitions(ajv, definitions.keys(), (ref) => definitions.get(ref) ?? true);
      const validate = ajv.compile(asObject(toAjvSchema(writeOnly, schema)));
      return (text) =>
        validate(JSON.parse(text))
          ? undefined
          : ajv.errorsText(validate.errors, { dataVar: '/body' });
    } catch {
      return () => undefined;
    }
  });

  return ({ schema }: MediaType, text: string) => validatorOf(schema)(text);
}

function writeOnlyNames(root: Json): ReadonlySet<string> {
  const names = new Set<string>();
  const addNamesIn = (value: unknown): void => {
    for (const [name, member] of Object.entries(asObject(asObject(value).properties))) {
      if (schemas.alternatives(root, member).some((part) => part.writeOnly === true))
        names.add(name);
    }
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(addNamesIn);
  };
  addNamesIn(root);
  return names;
}

/**
 * Returns a copy of a schema for Ajv. References begin with `document#`, large integers are
 * numbers, `writeOnly` members are not required, and `oneOf` with a discriminator is `anyOf`.
 */
function toAjvSchema(writeOnly: ReadonlySet<string>, value: unknown): unknown {
  const convert = (item: unknown) => toAjvSchema(writeOnly, item);
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(convert);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => {
    if (key === '$ref' && typeof item === 'string') return [key, item.replace(/^#/, 'document#')];
    if (key === 'oneOf' && value.discriminator !== undefined) return ['anyOf', convert(item)];
    if (key !== 'required' || !Array.isArray(item)) return [key, convert(item)];
    return [key, item.filter((name) => !writeOnly.has(name))];
  });
  return Object.fromEntries(entries);
}
