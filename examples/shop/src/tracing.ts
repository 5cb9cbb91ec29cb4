import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import {
  BatchSpanProcessor,
  ConsoleSpanExporter,
  NodeTracerProvider,
} from '@opentelemetry/sdk-trace-node';

// Loaded by `node --import`, before the service. Use an exporter of your own for real traces.
const exporter = new ConsoleSpanExporter();
new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] }).register();
new HttpInstrumentation();
