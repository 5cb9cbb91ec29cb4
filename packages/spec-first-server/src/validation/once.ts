import type { AnySchemaObject, ErrorObject, FuncKeywordDefinition, ValidateFunction } from 'ajv';

/** Counts validations, so that no result is used in the next one. */
export interface Run {
  count: number;
}

/** A compiled keyword of Ajv. It leaves its errors in a property. */
export interface KeywordValidator {
  (...input: Parameters<ValidateFunction>): boolean;
  errors?: Partial<ErrorObject>[];
}

/** The most violations that are reported of one object. */
const MOST = 50;

/**
 * The keyword `once`: validates each object once against its schema, however many alternatives lead to it. Without it,
 * the time for a recursive `oneOf` doubles with each level of the value.
 */
export const onceKeyword = (run: Run): FuncKeywordDefinition => ({
  keyword: 'once',
  errors: true,
  compile(schema: AnySchemaObject, _parent, { self }) {
    let compiled: ValidateFunction | undefined;
    let results = new WeakMap<object, readonly ErrorObject[]>();
    let ofRun = run.count;
    const validate: KeywordValidator = (value, context) => {
      if (ofRun !== run.count) {
        ofRun = run.count;
        results = new WeakMap();
      }
      compiled ??= self.compile(schema);
      const isObject = typeof value === 'object' && value !== null;
      let errors = isObject ? results.get(value) : undefined;
      if (errors === undefined) {
        errors = compiled(value, context) ? [] : (compiled.errors ?? []).slice(0, MOST);
        if (isObject) results.set(value, errors);
      }
      if (errors.length > 0) validate.errors = [...errors];
      return errors.length === 0;
    };
    return validate;
  },
});
