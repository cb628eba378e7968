import type { ClientBase } from 'pg';

/** Runs the work in a savepoint, and undoes it. */
export async function undone<Result>(client: ClientBase, work: () => Promise<Result>): Promise<Result> {
  await client.query('savepoint undone');
  try {
    return await work();
  } finally {
    await client.query('rollback to savepoint undone; release savepoint undone');
  }
}

/** Runs the work in a savepoint, and undoes it only if it fails. */
export async function within<Result>(client: ClientBase, work: () => Promise<Result>): Promise<Result> {
  await client.query('savepoint example');
  try {
    const result = await work();
    await client.query('release savepoint example');
    return result;
  } catch (error) {
    await client.query('rollback to savepoint example; release savepoint example');
    throw error;
  }
}
