import type { Pool } from 'pg';
import { rolledBack } from '../../src/audit/rolledBack.ts';
import { buildHistory, type History } from './buildHistory.ts';
import { questions } from './questions.ts';

/** How long each question of an auditor takes, and a purge, by so many changes: milliseconds. */
export type Growth = { changes: number; times: ReadonlyMap<string, number> };

const rounds = 5;

/** Of a database that is empty, filled up to each size in turn; medians, after a first round that is not counted. */
export async function measureGrowth(owner: Pool, sizes: readonly number[]): Promise<Growth[]> {
  const history = await buildHistory(owner);
  const grown: Growth[] = [];
  for (const changes of [0, ...sizes]) {
    await history.fill(changes, (message) => console.log(message));
    const times = new Map<string, number>();
    for (const [name, statement] of questions) times.set(name, await timeQuestion(owner, statement, history));
    times.set('Purge: nothing to do', await timePurge(owner, 0));
    await history.addExpiredMonth(changes / 14);
    times.set('Purge: a month to drop', await timePurge(owner, 1));
    grown.push({ changes, times });
  }
  return grown;
}

async function timeQuestion(owner: Pool, statement: string, { examples }: History): Promise<number> {
  const text = statement.replaceAll(/:(\w+)/g, (whole, name: string) =>
    Object.hasOwn(examples, name) ? `'${examples[name as keyof typeof examples]}'` : whole,
  );
  const times: number[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const time = await rolledBack(owner, async (client) => {
      const start = performance.now();
      await client.query(text);
      return performance.now() - start;
    });
    if (round >= 0) times.push(time);
  }
  return times.sort((a, b) => a - b)[rounds >> 1] ?? 0;
}

/** One call, as the server makes it every hour. */
async function timePurge(owner: Pool, months: number): Promise<number> {
  const start = performance.now();
  const { rows } = await owner.query('select months, new_months from oauth.purge_changes(1000)');
  const time = performance.now() - start;
  if (rows[0]?.months !== months || rows[0]?.new_months !== 0)
    throw new Error(`The purge did something else: ${JSON.stringify(rows)}`);
  return time;
}
