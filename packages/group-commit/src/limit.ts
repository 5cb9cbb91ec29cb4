/**
 * Resolves like a promise.
 *
 * @throws {unknown} the error if the promise has not settled after the time limit.
 */
export async function limit<T>(
  promise: Promise<T>,
  milliseconds: number,
  error: unknown,
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(late.reject, milliseconds, error);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
