import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import {
  BatchSpanProcessor,
  ConsoleSpanExporter,
  NodeTracerProvider,
} from '@opentelemetry/sdk-trace-node';

// Loaded by `node --import`, before the service. Replace the exporter, which prints to the console.
const exporter = new ConsoleSpanExporter();
new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] }).register();
new HttpInstrumentation();
