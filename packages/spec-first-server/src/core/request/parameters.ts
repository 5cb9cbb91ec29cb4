import { type Budget, type Operation, parameterReader } from 'openapi-document';
import type { OperationValidator, Parameters as Values } from '../validation/validator.ts';
import { Violations } from '../validation/violations.ts';

type Source = Parameters<ReturnType<typeof parameterReader>>[0];

/**
 * Returns a function that parses and validates the parameters of an operation.
 *
 * @param ignored the names of query parameters that are credentials.
 * @throws {Violations} The function throws all violations of the parameters.
 */
export function parametersReader(
  operation: Operation,
  ignored: ReadonlySet<string>,
  validator: OperationValidator,
): (source: Source, budget: Budget) => Values {
  const parse = parameterReader(operation, ignored);
  return (source, budget) => {
    const { values, violations: unread } = parse(source, budget);
    const { value, violations = [], isComplete } = validator.parameters(values, budget);
    if (violations.length + unread.length === 0) return value as Values;
    // A parameter that cannot be parsed has no value, and would be reported as missing, too.
    const places = new Set(unread.map(({ path }) => path));
    const invalid = violations.filter(({ path }) => !places.has(path));
    throw new Violations([...invalid, ...unread], isComplete);
  };
}
