import type { Json, Operation } from 'openapi-document';
import {
  createPathValidators,
  describeViolations,
  type OperationValidator,
  Violations,
} from 'spec-first-server/validation';

/** Makes validators of operations, as the server has them. A member that goes the other way only is an error. */
export function validatorsOf(
  root: Json,
  operations: readonly Operation[],
): (operation: Operation) => OperationValidator {
  const made = createPathValidators(root, operations, { readOnly: 'reject', discriminator: 'selects' });
  return (operation) => {
    const validator = made.get(operation);
    if (validator === undefined) throw new Error(`${operation.id} has no validator`);
    return validator;
  };
}

/** What a check finds wrong with a value, if anything. */
export function mismatch(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof Violations) return describeViolations(error.violations);
    throw error;
  }
}
