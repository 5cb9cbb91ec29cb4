import type { Tracing } from '../core/record.ts';

/** The parts of OpenTelemetry's API that are used here. */
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
 * Returns the functions that tracing needs; `undefined` unless OpenTelemetry is loaded. An agent
 * may bring its own copy of the API, which cannot be imported from here.
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
