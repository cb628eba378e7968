import { context, propagation, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';

/** The one tracer; does nothing until `startTracing` has run. */
export const tracer = trace.getTracer('graph-query-service');

/** Whether the current code belongs to a request whose trace is recorded. */
export const isTraced = (): boolean => trace.getActiveSpan()?.isRecording() ?? false;

/**
 * Runs `work`, which may wait, as a part of the request's trace, if that is recorded.
 * The span of an error has no details, since the error's message may quote a client.
 */
export function traced<T>(name: string, work: () => T): T {
  if (!isTraced()) return work();
  return tracer.startActiveSpan(name, (span) => {
    const fail = () => span.setStatus({ code: SpanStatusCode.ERROR }).end();
    try {
      const result = work();
      if (result instanceof Promise) result.then(() => span.end(), fail);
      else span.end();
      return result;
    } catch (error) {
      fail();
      throw error;
    }
  });
}

/** The current trace for another thread, as the headers of W3C Trace Context. */
export function traceHeaders(): Record<string, string> {
  const headers: Record<string, string> = {};
  propagation.inject(context.active(), headers);
  return headers;
}

/** Continues another thread's trace: runs `work` as a child of its span (W3C Trace Context). */
export async function tracedFrom<T>(
  headers: Readonly<Record<string, string>>,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  return tracer.startActiveSpan(name, {}, propagation.extract(ROOT_CONTEXT, headers), (span) =>
    work().finally(() => span.end()),
  );
}

/** Adds a past span, in times of `performance.now()`. */
export function tracePast(name: string, startedAt: number, durationMs: number): void {
  if (isTraced()) tracer.startSpan(name, { startTime: startedAt }).end(startedAt + durationMs);
}
