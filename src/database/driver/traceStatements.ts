import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { PoolClient } from 'pg';
import { isTraced, tracer } from '../../observability/tracing/traced.ts';

type Callback = (error: Error | null, result: unknown) => void;

/** The argument of the driver's `query`: a text, a configuration, or a query that calls back by itself. */
type Asked = string | { text?: string; callback?: Callback; submit?: unknown };

/**
 * Makes each statement of this connection a span, by OpenTelemetry's conventions for databases.
 * The span belongs to the request that waits for the statement. It has the command and its relations, never the text or a value.
 */
export function traceStatements(client: PoolClient): void {
  const query = client.query as (...values: unknown[]) => unknown;
  const traced = (...values: unknown[]) => {
    const summary = isTraced() ? summarize(textOf(values[0] as Asked)) : null;
    if (summary === null) return query.apply(client, values);

    const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': summary };
    const span = tracer.startSpan(summary, { kind: SpanKind.CLIENT, attributes });
    const end = (error?: unknown) => {
      if (error) span.setStatus({ code: SpanStatusCode.ERROR });
      const state = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (state) span.setAttribute('db.response.status_code', state);
      span.end();
    };
    const endBefore =
      (callback: Callback): Callback =>
      (error, result) => {
        end(error);
        callback(error, result);
      };

    const [asked] = values as [Asked];
    if (typeof asked === 'object' && asked.submit && asked.callback) {
      asked.callback = endBefore(asked.callback);
      return query.apply(client, values);
    }
    const last = values.at(-1);
    if (typeof last === 'function') return query.apply(client, [...values.slice(0, -1), endBefore(last as Callback)]);
    const result = query.apply(client, values) as Promise<unknown>;
    result.then(() => end(), end);
    return result;
  };
  client.query = traced as typeof client.query;
}

const textOf = (asked: Asked): string => (typeof asked === 'string' ? asked : (asked.text ?? ''));

/** Such as `select app_public.users, app_public.cards`; null for a statement that only frames others. */
function summarize(text: string): string | null {
  const command = /^\s*([a-z]+)/i.exec(text)?.[1]?.toLowerCase() ?? 'statement';
  const relations = [...text.matchAll(/"?\b(app_public|app_hidden|oauth|graphile_migrate)\b"?\."?(\w+)/g)];
  if (relations.length === 0 && framing.has(command)) return null;
  const names = new Set(relations.map(([, schema, name]) => `${schema}.${name}`));
  return [command, [...names].slice(0, 5).join(', ')].filter(Boolean).join(' ');
}

/** A transaction's settings are a select without a relation. */
const framing: ReadonlySet<string> = new Set(['begin', 'savepoint', 'release', 'rollback', 'select', 'set']);
