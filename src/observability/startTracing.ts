import { setTimeout as delay } from 'node:timers/promises';
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { isDue } from './requestFields.ts';

/**
 * Starts to record and send traces, from this thread.
 * OpenTelemetry reads the rest itself: `OTEL_EXPORTER_OTLP_*` (where to), `OTEL_TRACES_SAMPLER` (which), `OTEL_SERVICE_NAME` and
 * `OTEL_RESOURCE_ATTRIBUTES` (as what), `OTEL_BSP_*` (how often).
 *
 * @returns what to call at the end: sends the remaining spans, in at most 2 s
 */
export async function startTracing(
  { protocol }: NonNullable<Config['tracing']>,
  log: Log,
): Promise<() => Promise<void>> {
  diag.setLogger(toLog(log), { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
  const exporter =
    protocol === 'http/json'
      ? new (await import('@opentelemetry/exporter-trace-otlp-http')).OTLPTraceExporter()
      : new (await import('@opentelemetry/exporter-trace-otlp-proto')).OTLPTraceExporter();
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'graph-query-service' }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  provider.register();

  return () => Promise.race([provider.shutdown().catch(() => undefined), delay(2000, undefined, { ref: false })]);
}

/** Logs OpenTelemetry's errors, once a minute: each batch reports an unreachable collector. */
function toLog(log: Log) {
  const message = 'traces cannot be sent; OTEL_EXPORTER_OTLP_ENDPOINT says where to';
  const error = () => isDue(log, message) && log.warn(message);
  const nothing = () => undefined;
  return { error, warn: nothing, info: nothing, debug: nothing, verbose: nothing };
}
