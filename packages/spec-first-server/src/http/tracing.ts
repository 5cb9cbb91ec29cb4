import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** What a tracer learns of a request, and tells. */
export interface Tracing {
  /** Names the span of the request that runs. */
  name(method: string, route: string, operationId: string): void;
  /** The trace of the request that runs. */
  traceId(): string | undefined;
}

/** OpenTelemetry's interface, if the process has loaded it: who does not trace does not wait for it at the start. */
export function openTelemetry(): Tracing | undefined {
  if (!Object.keys(require.cache).some((file) => /@opentelemetry[\\/]api[\\/]/.test(file))) return undefined;
  const { trace }: typeof import('@opentelemetry/api') = require('@opentelemetry/api');
  return {
    name(method, route, operationId) {
      const attributes = { 'http.route': route, 'openapi.operation_id': operationId };
      trace.getActiveSpan()?.setAttributes(attributes).updateName(`${method} ${route}`);
    },
    traceId: () => trace.getActiveSpan()?.spanContext().traceId,
  };
}

/** The trace that a client has begun (https://www.w3.org/TR/trace-context/#traceparent-header). */
export const receivedTraceId = (traceparent: string | string[] | undefined): string | undefined =>
  /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/.exec(String(traceparent))?.[1];
