import type { Pool } from 'pg';
import { noRequest } from '../../src/observability/requestFields.ts';
import { type Claims, graphSettings } from '../../src/token/settings.ts';
import { inTransaction } from '../../src/token/transaction.ts';
import type { Statement } from './capture.ts';
import { median } from './measured.ts';

/**
 * Medians, in milliseconds, of all statements of one operation together: PostgreSQL's own account of them, under the role and
 * settings of these claims.
 */
export async function timeStatements(
  authenticator: Pool,
  claims: Claims,
  statements: readonly Statement[],
  rounds: number,
): Promise<{ execution: number; planning: number }> {
  const runs: { execution: number; planning: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const run = { execution: 0, planning: 0 };
    for (const { text, values } of statements) {
      await inTransaction(authenticator, graphSettings(claims, noRequest, 10_000), async (client) => {
        const explained = await client.query(`explain (analyze, timing off, format json) ${text}`, values);
        const [plan] = explained.rows[0]['QUERY PLAN'];
        run.execution += plan['Execution Time'];
        run.planning += plan['Planning Time'];
      });
    }
    runs.push(run);
  }
  return { execution: median(runs.map((run) => run.execution)), planning: median(runs.map((run) => run.planning)) };
}
