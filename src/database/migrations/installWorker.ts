import { EventEmitter } from 'node:events';
import type { ClientBase, Pool } from 'pg';
import type { Log } from '../../log.ts';

/**
 * Installs the schema of graphile-worker in the library's version, with the rights of graph_worker.
 * The library migrates it itself, as the owner. Its tables have row-level security without a
 * policy: no role but the owner and this one reads or writes a job.
 *
 * @param owner has waited for the other migrations
 */
export async function installWorker(owner: ClientBase, log: Log): Promise<void> {
  const { Logger, runMigrations } = await import('graphile-worker');
  const logger = createWorkerLogger(Logger, log);
  await runMigrations({ pgPool: poolOf(owner), schema: workerSchema, logger, noHandleSignals: true });
  await owner.query(grants);
}

/** A name that graphile-worker has by default: no other use of it in the database of this service. */
export const workerSchema = 'graphile_worker';

/** The log of the library, which tells every job at level info. */
export const createWorkerLogger = (Logger: typeof import('graphile-worker').Logger, log: Log) =>
  new Logger(() => (level, message) => log[levels[level] ?? 'debug'](message));

const levels: Readonly<Record<string, 'error' | 'warn'>> = { error: 'error', warning: 'warn' };

/** The one connection, which holds the lock, as a pool. */
function poolOf(owner: ClientBase): Pool {
  const client = { query: owner.query.bind(owner), release: () => undefined };
  const ignore = () => undefined;
  const events = new EventEmitter().on('error', ignore).on('connect', ignore);
  return Object.assign(events, { options: { max: 1 }, connect: async () => client }) as unknown as Pool;
}

/** What adding, taking and finishing a job needs. */
const grants = `
  grant usage on schema graphile_worker to graph_worker;
  grant select, insert, update, delete on graphile_worker._private_jobs to graph_worker;
  grant select, insert on graphile_worker._private_tasks to graph_worker;
  grant select, insert, update on graphile_worker._private_job_queues to graph_worker;
  grant execute on function graphile_worker.add_job(text, json, text, timestamptz, int, text, int, text[], text) to graph_worker;
  grant execute on function graphile_worker.add_jobs(graphile_worker.job_spec[], boolean) to graph_worker;
  grant execute on function graphile_worker.complete_jobs(bigint[]) to graph_worker;
  grant select on graphile_worker.jobs to graph_worker;
  do $$
  declare
    name text;
  begin
    foreach name in array array['_private_jobs', '_private_tasks', '_private_job_queues'] loop
      if not exists (
        select from pg_policy
        where polrelid = format('graphile_worker.%I', name)::regclass and polname = 'all_graph_worker'
      ) then
        execute format('create policy all_graph_worker on graphile_worker.%I for all to graph_worker using (true) with check (true)', name);
      end if;
    end loop;
  end
  $$`;
