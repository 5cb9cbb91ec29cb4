import { reserve } from '../memory.ts';
import { HttpError } from '../response/http-error.ts';

/** The maximum number of bytes that one body reserves of the shared budget. */
const MAX_RESERVED = 16 * 1024 ** 2;

export type Reservation = ReturnType<typeof createReservation>;

/** Creates the reservation of one body in the budget that all requests share. */
export function createReservation() {
  let reserved = 0;

  /** @param size the new total, in bytes. @throws {HttpError} 503 if too few bytes are left */
  function resize(size: number): void {
    const target = Math.min(size, MAX_RESERVED);
    if (!reserve(target - reserved)) {
      throw new HttpError(503, 'too many large requests at once: try again later', {
        headers: { 'Retry-After': 1 },
        expected: true,
      });
    }
    reserved = target;
  }

  return { resize, release: () => resize(0) };
}
