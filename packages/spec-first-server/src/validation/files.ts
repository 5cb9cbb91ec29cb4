import { allOfSchemas, itemSchemas, type Json, propertySchemas } from 'openapi-document';
import { type Violation, Violations } from './violations.ts';

const isFile = (value: unknown): boolean => (Array.isArray(value) ? value.some(isFile) : value instanceof Blob);

/** The fields of a form that hold files. */
export const filesOf = (form: Json): Json =>
  Object.fromEntries(Object.entries(form).filter(([, value]) => isFile(value)));

/**
 * A form with texts in place of files. Schemas describe files as strings of a length in bytes. That is checked here, so
 * that the text need not be as long as the file.
 *
 * @throws {Violations}
 */
export function withoutFiles(root: Json, schema: unknown, form: Json): Json {
  const violations: Violation[] = [];
  const fields = Object.entries(form).map(([name, value]) => [name, isFile(value) ? textsFor(name, value) : value]);
  if (violations.length > 0) throw new Violations(violations);
  return Object.fromEntries(fields);

  function textsFor(name: string, value: unknown): unknown {
    const schemas = propertySchemas(root, schema, name);
    if (!Array.isArray(value)) return textFor(`/body/${name}`, schemas, value);
    return value.map((item, index) => {
      const items = schemas.flatMap((list) => itemSchemas(root, list, index));
      return textFor(`/body/${name}/${index}`, items, item);
    });
  }

  function textFor(path: string, schemas: readonly unknown[], value: unknown): unknown {
    if (!(value instanceof Blob)) return value;
    let least = 0;
    for (const { minLength, maxLength } of schemas.flatMap((part) => allOfSchemas(root, part))) {
      if (typeof minLength === 'number') {
        least = Math.max(least, minLength);
        if (value.size < minLength) {
          violations.push({ path, message: `must NOT have fewer than ${minLength} bytes`, keyword: 'minLength' });
        }
      }
      if (typeof maxLength === 'number' && value.size > maxLength) {
        violations.push({ path, message: `must NOT have more than ${maxLength} bytes`, keyword: 'maxLength' });
      }
    }
    return '\0'.repeat(least);
  }
}
