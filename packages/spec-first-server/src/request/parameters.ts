import { type Json, type Operation, parameterReader } from 'openapi-document';
import { HttpError } from '../response/http-error.ts';

/** The texts of a request that hold parameters. */
type ParameterSource = Parameters<ReturnType<typeof parameterReader>>[0];
type ParameterValues = ReturnType<ReturnType<typeof parameterReader>>['values'];

/**
 * Prepares to read an operation's parameters.
 *
 * @param credentials names of query parameters that carry API keys; ignored here.
 */
export function prepareParameters(root: Json, operation: Operation, credentials: ReadonlySet<string>) {
  const read = parameterReader(root, operation, credentials);

  /** @throws {HttpError} 400 */
  return (source: ParameterSource): ParameterValues => {
    const { values, violations } = read(source);
    if (violations.length > 0) throw HttpError.violations(violations);
    return values;
  };
}
