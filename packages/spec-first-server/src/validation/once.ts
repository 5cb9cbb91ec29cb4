import type { ErrorObject, FuncKeywordDefinition, Schema, ValidateFunction } from 'ajv';

/** The value that a keyword of Ajv validates, and where it stands. */
export type KeywordInput = Parameters<ValidateFunction>;

/** A compiled keyword of Ajv. Leaves its violations in `errors`. */
export interface KeywordValidator {
  (...input: KeywordInput): boolean;
  errors?: Partial<ErrorObject>[];
}

/** The most violations that one object contributes to those of its parent. */
const MOST = 1000;

/**
 * The keyword `once`: validates each object once against its schema, however many alternatives lead to it. Without it,
 * the time for a recursive `oneOf` doubles with each level of the value.
 *
 * @param run counts validations. Results are used within one only, since a handler may change an object.
 */
export const onceKeyword = (run: { readonly count: number }): FuncKeywordDefinition => ({
  keyword: 'once',
  errors: true,
  compile(schema: Schema, _parent, { self }) {
    let compiled: ValidateFunction | undefined;
    let known = { run: -1, results: new WeakMap<WeakKey, ErrorObject[]>() };
    const validate: KeywordValidator = (value, location) => {
      compiled ??= self.compile(schema);
      if (typeof value !== 'object' || value === null) {
        const valid = compiled(value, location);
        validate.errors = compiled.errors ?? [];
        return valid;
      }
      if (known.run !== run.count) known = { run: run.count, results: new WeakMap() };
      let errors = known.results.get(value);
      if (errors === undefined) {
        errors = compiled(value, location) ? [] : (compiled.errors ?? []).slice(0, MOST);
        known.results.set(value, errors);
      }
      validate.errors = [...errors];
      return errors.length === 0;
    };
    return validate;
  },
});
