const MAX_TEXT_LENGTH = 16_384;

/** Limits the causes: an error may be its own cause. */
const MAX_DEPTH = 8;

/**
 * Describes a thrown value for the log. Of an error, includes only the type, message, code, stack
 * and cause: drivers quote data in other properties. Never throws.
 *
 * @param withStack true to include the stack. Expected errors have a `status`; they and their
 *   causes are logged without a stack.
 */
export function describeError(error: unknown, withStack = true, depth = 0): unknown {
  try {
    if (!(error instanceof Error)) return cut(String(error));
    const { name, message, code, stack, cause } = error as Error & { readonly code?: unknown };
    const isUnexpected = withStack && !('status' in error);
    const isCauseShown = cause !== undefined && depth < MAX_DEPTH;
    return {
      type: cut(String(name)),
      message: cut(String(message)),
      code: typeof code === 'string' ? cut(code) : undefined,
      stack: isUnexpected && typeof stack === 'string' ? cut(stack) : undefined,
      cause: isCauseShown ? describeError(cause, isUnexpected, depth + 1) : undefined,
    };
  } catch {
    // A getter, a proxy or `toString` threw.
    return 'a value that cannot be read';
  }
}

const cut = (text: string): string =>
  text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text;
