type Send = (signal: AbortSignal | null | undefined) => Promise<Response>;

interface RetryOptions {
  readonly signal?: AbortSignal | null | undefined;
  /** In milliseconds. */
  readonly timeout?: number | undefined;
  readonly retries: number;
}

/** The longest time of a timer, in milliseconds: 24.8 days. A longer one ends at once. */
const MAX_TIMER = 2 ** 31 - 1;

/** Statuses of temporary failures (RFC 9110 §15.6, RFC 6585 §4). */
const TEMPORARY = new Set([429, 502, 503, 504]);

/**
 * Sends a request, with retries after temporary failures.
 *
 * @returns the response, and a function `end` that clears the timeout. The caller must call `end`
 *   after reading the response.
 */
export async function responseTo(send: Send, { signal, timeout, retries }: RetryOptions) {
  const deadline = timeout === undefined ? undefined : timeLimit(timeout);
  const signals = [signal, deadline?.signal].filter((item) => item instanceof AbortSignal);
  const combined = signals.length > 1 ? AbortSignal.any(signals) : signals[0];
  const end = () => deadline?.clear();
  try {
    for (let attempt = 0; ; attempt += 1) {
      const isLast = attempt >= retries;
      const response = await send(combined).catch((error: unknown): undefined => {
        if (isLast || combined?.aborted) throw error;
      });
      if (response !== undefined && (isLast || !TEMPORARY.has(response.status))) {
        return { response, end };
      }
      await response?.body?.cancel();
      await delay(pauseBefore(attempt, response), combined);
    }
  } catch (error) {
    end();
    throw error;
  }
}

function timeLimit(milliseconds: number) {
  const controller = new AbortController();
  const abort = () => {
    const message = `the call took longer than ${milliseconds} ms`;
    controller.abort(new DOMException(message, 'TimeoutError'));
  };
  const timer = setTimeout(abort, Math.min(milliseconds, MAX_TIMER));
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}

/** Returns milliseconds: those of `Retry-After`, or an exponential backoff. */
function pauseBefore(attempt: number, response: Response | undefined): number {
  const after = response?.headers.get('Retry-After') ?? '';
  const pause = /^\d+$/.test(after) ? Number(after) * 1_000 : Date.parse(after) - Date.now();
  if (pause >= 0) return pause;
  // Random jitter prevents many clients from retrying at the same time.
  return 250 * 2 ** attempt * (0.5 + Math.random() / 2);
}

/** Rejects if the signal is aborted. */
export async function delay(
  milliseconds: number,
  signal: AbortSignal | null | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const abort = () => reject(signal?.reason);
  const timer = setTimeout(resolve, Math.min(milliseconds, MAX_TIMER));
  signal?.addEventListener('abort', abort);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    // A signal may outlive many pauses.
    signal?.removeEventListener('abort', abort);
  }
}
