/**
 * Resolves to the error of a check, or to `undefined` if the database is ready. Repeats a check that
 * reaches its time limit, as it may on a busy machine.
 */
export async function readiness(database: { ready(): Promise<void> }): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    const error: unknown = await database.ready().catch((reason: unknown) => reason);
    if (Object(error).code !== 'TIMEOUT' || attempt === 50) return error;
  }
}
