import type { BodyFormat } from '../codecs/codec.ts';
import type { DeclaredResponse } from './operations.ts';

/** Statuses whose responses have no body (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
const BODILESS_STATUSES = new Set([204, 205, 304]);

/** The response of an operation that declares none. */
const WITHOUT_BODY: DeclaredResponse = {
  key: 'default',
  media: [],
  headers: [],
  pointer: '',
  source: {},
};

interface Declared {
  readonly key: string;
  readonly media: readonly BodyFormat[];
}

/**
 * Finds the response for a status: by its code, its range, or `default` (OpenAPI 3.1 §4.8.16). Its
 * media types are those that a body with this status may have. An operation that declares no
 * response may have any status, without a body.
 */
export function declaredFor<Response extends Declared>(
  { responses }: { readonly responses: readonly Response[] },
  status: number,
): Response | DeclaredResponse | undefined {
  if (responses.length === 0) return WITHOUT_BODY;
  const keys = ['DEFAULT', `${Math.floor(status / 100)}XX`, `${status}`];
  let declared: Response | undefined;
  let rank = -1;
  for (const response of responses) {
    const index = keys.indexOf(response.key.toUpperCase());
    if (index <= rank) continue;
    declared = response;
    rank = index;
  }
  if (declared === undefined || !BODILESS_STATUSES.has(status)) return declared;
  return { ...declared, media: [] };
}
