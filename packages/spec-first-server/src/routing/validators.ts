import type { Json, Operation } from 'openapi-document';
import { type OperationValidator, validatePath } from '../validation/validator.ts';

/** The validator of an operation. */
export type ValidatorOf = (operation: Operation) => OperationValidator;

/** The validators of operations: those of one path are made together, when the first of them is asked for. */
export function validatorsOf(root: Json, operations: readonly Operation[]): ValidatorOf {
  const paths = Map.groupBy(operations, ({ path }) => path);
  const made = new Map<string, ReturnType<typeof validatePath>>();
  return (operation) => {
    const { path } = operation;
    const validators = made.get(path) ?? validatePath(root, paths.get(path) ?? []);
    made.set(path, validators);
    const validator = validators.get(operation);
    if (validator === undefined) throw new Error(`${operation.id} has no validator`);
    return validator;
  };
}
