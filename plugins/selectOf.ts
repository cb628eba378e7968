import type { PgSelectStep } from 'postgraphile/@dataplan/pg';
import type { ConnectionStep, Step } from 'postgraphile/grafast';

/** The statement behind a connection that PostGraphile planned for a table or a function. */
export function selectOf($connection: Step): PgSelectStep {
  return ($connection as ConnectionStep<unknown>).getSubplan() as unknown as PgSelectStep;
}
