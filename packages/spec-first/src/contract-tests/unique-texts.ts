import { isObject, type Json, schemas } from 'openapi-document';

/** Functions that add a key to a string of a format. The result is unique and has this format. */
const MAKE_UNIQUE: Readonly<Record<string, (text: string, key: string) => string>> = {
  email: (text, key) => `${key}.${text}`,
  hostname: (text, key) => `${key}.${text}`,
  uri: (text, key) => `${text}${key}`,
  url: (text, key) => `${text}${key}`,
  uuid: (text, key) => `${text.slice(0, -key.length)}${key}`,
};

/**
 * Adds a key to the addresses and UUIDs in a value. Many services require unique addresses, and
 * would reject all requests but the first with 409.
 *
 * @param valueSchemas the schemas of the value.
 * @param key at most 12 hexadecimal digits that no other request has.
 */
export function withUniqueTexts(
  root: Json,
  valueSchemas: readonly unknown[],
  value: unknown,
  key: string,
): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) => {
      const itemSchemas = valueSchemas.flatMap((schema) => schemas.ofItem(root, schema, index));
      return withUniqueTexts(root, itemSchemas, item, key);
    });
  }
  if (isObject(value)) {
    const members = Object.entries(value).map(([name, member]) => {
      const memberSchemas = valueSchemas.flatMap((schema) =>
        schemas.ofProperty(root, schema, name),
      );
      return [name, withUniqueTexts(root, memberSchemas, member, key)];
    });
    return Object.fromEntries(members);
  }
  if (typeof value !== 'string') return value;
  const functionsOfFormats = valueSchemas
    .flatMap((schema) => schemas.alternatives(root, schema))
    .map(({ format }) => MAKE_UNIQUE[String(format)]);
  const makeUnique = functionsOfFormats.find((candidate) => candidate !== undefined);
  return makeUnique === undefined ? value : makeUnique(value, key);
}
