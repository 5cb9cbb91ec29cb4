import { isObject, type Json, schemas } from 'openapi-document';

/** Functions that make a string unique and keep it valid, by format. */
const UNIQUE: Readonly<Record<string, (text: string, key: string) => string>> = {
  email: (text, key) => `${key}.${text}`,
  hostname: (text, key) => `${key}.${text}`,
  uri: (text, key) => `${text}${key}`,
  url: (text, key) => `${text}${key}`,
  uuid: (text, key) => `${text.slice(0, -key.length)}${key}`,
};

/**
 * Returns a value whose addresses and UUIDs no other request contains. Many services require unique
 * ones, and would answer all but the first request with 409.
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
      const schemasOfItem = valueSchemas.flatMap((schema) => schemas.ofItem(root, schema, index));
      return withUniqueTexts(root, schemasOfItem, item, key);
    });
  }
  if (isObject(value)) {
    const members = Object.entries(value).map(([name, member]) => {
      const inside = valueSchemas.flatMap((schema) => schemas.ofProperty(root, schema, name));
      return [name, withUniqueTexts(root, inside, member, key)];
    });
    return Object.fromEntries(members);
  }
  if (typeof value !== 'string') return value;
  const formats = valueSchemas
    .flatMap((schema) => schemas.alternatives(root, schema))
    .map(({ format }) => UNIQUE[String(format)]);
  const unique = formats.find((make) => make !== undefined);
  return unique === undefined ? value : unique(value, key);
}
