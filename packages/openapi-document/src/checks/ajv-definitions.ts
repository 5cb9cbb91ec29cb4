import type { Ajv, AnySchema, ValidateFunction } from 'ajv';
import type { DataValidationCxt } from 'ajv/dist/types/index.js';

/** A schema in Ajv. `validate` is missing until the schema is compiled. */
type Definition = NonNullable<Ajv['schemas'][string]>;

/**
 * Adds definitions to Ajv and compiles them. Ajv itself compiles each schema inside the one that
 * references it, so a chain of a few hundred references would overflow the stack. It does not
 * compile a schema that has a `validate` function. Each definition therefore starts with a function
 * that compiles it on first use.
 *
 * A definition that cannot be compiled has no effect until a schema or a value needs it. Then
 * the error is thrown.
 *
 * @param refs the `$ref` of each definition. References between definitions may be circular.
 * @param schemaOf is called for definitions that Ajv does not have yet.
 */
export function addDefinitions(
  ajv: Pick<Ajv, 'addSchema' | 'getSchema' | 'schemas'>,
  refs: Iterable<string>,
  schemaOf: (ref: string) => AnySchema,
): void {
  const missingRefs = Array.from(refs).filter((ref) => ajv.schemas[ref] === undefined);
  const addedDefinitions = missingRefs.map((ref) => {
    ajv.addSchema(schemaOf(ref), ref);
    const definition = ajv.schemas[ref];
    if (definition === undefined) throw new Error(`Ajv has no schema ${ref}`);
    const compile = () => ajv.getSchema(ref);
    definition.validate = forwarding(definition, compile);
    return { definition, compile };
  });
  // Compiles the last definition first: earlier ones then call it directly.
  for (const { definition, compile } of addedDefinitions.reverse()) {
    delete definition.validate;
    try {
      compile();
    } catch {
      // Thrown again when a schema or a value needs this definition.
    }
  }
}

/** Copies `errors` and `evaluated`, since Ajv reads them from the function that it calls. */
function forwarding(definition: Definition, compile: () => unknown): ValidateFunction {
  const { schema } = definition;
  const forward = Object.assign(call, { schema, schemaEnv: definition });
  return forward;

  function call(data: unknown, context?: DataValidationCxt): data is unknown {
    if (definition.validate === undefined) compile();
    const { validate } = definition;
    const isValid = validate?.(data, context) === true;
    const { errors, evaluated } = validate ?? {};
    Object.assign(forward, { errors, evaluated });
    return isValid;
  }
}
