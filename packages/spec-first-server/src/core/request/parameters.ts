import { type Budget, type Operation, parameterReader } from 'openapi-document';
import type { OperationValidator, Parameters as Values } from '../validation/validator.ts';
import { type Violation, Violations } from '../validation/violations.ts';

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
    const invalid = violations.filter(({ path }) => !places.has(path)).map(explainPlus);
    throw new Violations([...invalid, ...unread], isComplete);

    /** Clients often forget to encode the `+` of a time zone, which then is a space. */
    function explainPlus(violation: Violation): Violation {
      const { path, keyword, message } = violation;
      const [, location, name = ''] = path.split('/');
      const text = location === 'query' && keyword === 'format' ? values.query[name] : undefined;
      const hasSpace = typeof text === 'string' && text.includes(' ');
      if (!hasSpace || !source.query.includes('+')) return violation;
      return { ...violation, message: `${message} (a + in a query is a space: send %2B)` };
    }
  };
}
