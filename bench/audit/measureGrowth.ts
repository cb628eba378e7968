import type { Pool, PoolClient } from 'pg';
import { rolledBack } from '../../src/database/pool/transactions.ts';
import { median } from '../support/measured.ts';
import { buildHistory } from './buildHistory.ts';
import { type Question, readQuestions } from './questions.ts';

/** How long each question of an auditor takes, and a purge, by so many changes: milliseconds. */
export type Growth = { changes: number; times: ReadonlyMap<string, number> };

const rounds = 5;

/** Measures an empty database that is filled up to each size in turn. Gives medians, without the first round. */
export async function measureGrowth(owner: Pool, sizes: readonly number[]): Promise<Growth[]> {
  const history = await buildHistory(owner);
  const questions = await readQuestions();
  const grown: Growth[] = [];
  for (const changes of [0, ...sizes]) {
    await history.fill(changes, (message) => console.log(message));
    const times = new Map<string, number>();
    for (const question of questions) times.set(question.name, await timeQuestion(owner, question));
    await history.addExpiredMonth(changes / 14);
    for (const [name, time] of await timePurge(owner)) times.set(name, time);
    grown.push({ changes, times });
  }
  return grown;
}

async function timeQuestion(owner: Pool, { changes, statement }: Question): Promise<number> {
  const times: number[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const time = await rolledBack(owner, async (client) => {
      for (const change of changes) await client.query(change);
      const start = performance.now();
      await client.query(statement);
      return performance.now() - start;
    });
    if (round >= 0) times.push(time);
  }
  return median(times);
}

/**
 * A purge that has a month to drop, and one that has not, as the server calls it every hour. The lock is given back before the file system
 * frees what the month took, so that a writer beside it waits for the first alone.
 */
async function timePurge(owner: Pool): Promise<[string, number][]> {
  const done = new AbortController();
  const slowestWrite = write(owner, done.signal);
  const client = await owner.connect();
  try {
    const times = [
      ...(await timeCall(client, 'Purge: a month to drop', 1)),
      ...(await timeCall(client, 'Purge: nothing to do', 0)),
    ];
    done.abort();
    return [...times, ['Purge: the slowest of the writes beside it', await slowestWrite]];
  } finally {
    done.abort();
    client.release();
    await slowestWrite;
  }
}

async function timeCall(client: PoolClient, name: string, months: number): Promise<[string, number][]> {
  const start = performance.now();
  await client.query('begin');
  const { rows } = await client.query('select months, new_months from oauth.purge_changes(1000)');
  const untilCommit = performance.now() - start;
  await client.query('commit');
  if (rows[0]?.months !== months || rows[0]?.new_months !== 0)
    throw new Error(`The purge did something else: ${JSON.stringify(rows)}`);
  return [
    [`${name}, until it commits`, untilCommit],
    [`${name}, with its commit`, performance.now() - start],
  ];
}

/** Recorded changes, one after the other, each a transaction. */
async function write(owner: Pool, done: AbortSignal): Promise<number> {
  let slowest = 0;
  while (!done.aborted) {
    const start = performance.now();
    await owner.query(
      `update app_hidden.organizations set name = name || '.' where name ^@ 'Grown' and char_length(name) < 200`,
    );
    slowest = Math.max(slowest, performance.now() - start);
  }
  return slowest;
}
