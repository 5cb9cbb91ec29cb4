import type { Tracing } from '../core/record.ts';

/** The part of OpenTelemetry's API that this file uses. */
interface SharedApi {
  readonly context?: { active(): { getValue(key: symbol): unknown } };
}

interface Span {
  setAttributes(attributes: Readonly<Record<string, string>>): Span;
  updateName(name: string): Span;
  spanContext(): { readonly traceId: string };
}

/** All copies of the API use this property of `globalThis`, and this key of a context. */
const API = Symbol.for('opentelemetry.js.api.1');
const ACTIVE_SPAN = Symbol.for('OpenTelemetry Context Key SPAN');

/**
 * Returns the functions that tracing needs; `undefined` unless OpenTelemetry is loaded. Does not
 * import the API, since an agent may have another copy of it.
 */
export function openTelemetry(): Tracing | undefined {
  const api: SharedApi | undefined = Reflect.get(globalThis, API);
  if (api === undefined) return undefined;
  const activeSpan = () => api.context?.active().getValue(ACTIVE_SPAN) as Span | undefined;
  return {
    name(method, route, operationId) {
      const attributes = { 'http.route': route, 'openapi.operation_id': operationId };
      activeSpan()?.setAttributes(attributes).updateName(`${method} ${route}`);
    },
    traceId: () => activeSpan()?.spanContext().traceId,
  };
}
