import type { Json, Operation } from 'openapi-document';
import type { Reading } from '../validation/rewrite.ts';
import { createPathValidators, type OperationValidator } from '../validation/validator.ts';

/** The validator of an operation. */
export type ValidatorOf = (operation: Operation) => OperationValidator;

/** The validators of operations: those of one path are made together, when the first of them is asked for. */
export function validatorsOf(root: Json, operations: readonly Operation[], reading: Reading): ValidatorOf {
  const paths = Map.groupBy(operations, ({ path }) => path);
  const made = new Map<string, ReturnType<typeof createPathValidators>>();
  return (operation) => {
    const { path } = operation;
    const validators = made.get(path) ?? createPathValidators(root, paths.get(path) ?? [], reading);
    made.set(path, validators);
    const validator = validators.get(operation);
    if (validator === undefined) throw new Error(`${operation.id} has no validator`);
    return validator;
  };
}
