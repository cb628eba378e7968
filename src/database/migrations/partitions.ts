import type { ClientBase } from 'pg';
import { hasCode } from '../../errors/errors.ts';
import type { Log } from '../../log.ts';

/**
 * Makes partitions of the history for the coming months, and the indexes that older ones lack.
 * These indexes are built concurrently. So a migration adds one by `create index … on only audit.changes`, and no writer waits for it,
 * however large the history is.
 */
export async function preparePartitions(owner: ClientBase, lockTimeout: string, log: Log): Promise<void> {
  await createPartitions(owner, lockTimeout, log);
  // An index whose build was interrupted blocks the name.
  for (const { statement } of (await owner.query<Statement>(dropInvalid)).rows) await owner.query(statement);
  for (const { index, partition, name, definition } of (await owner.query<Missing>(missing)).rows) {
    log.info({ index, partition }, 'building an index of the history');
    await owner.query(definition);
    await owner.query(`alter index ${index} attach partition ${name}`);
  }
}

/** A locked history is no failure: the server's purge makes the partitions hourly, too, months ahead. */
async function createPartitions(owner: ClientBase, lockTimeout: string, log: Log): Promise<void> {
  try {
    await owner.query(`begin; set local lock_timeout = '${lockTimeout}'; select audit.create_partitions(); commit`);
  } catch (error) {
    await owner.query('rollback');
    if (!hasCode(error, lockNotAvailable)) throw error;
    log.warn({ error }, 'could not make the next months of the history, since it is in use; the service will');
  }
}

const lockNotAvailable = '55P03';

type Statement = { statement: string };
type Missing = { index: string; partition: string; name: string; definition: string };

const partitions = `pg_inherits p join pg_class c on c.oid = p.inhrelid and p.inhparent = 'audit.changes'::regclass`;

const dropInvalid = `
  select format('drop index concurrently %s', i.indexrelid::regclass) as statement
  from ${partitions}
  join pg_index i on i.indrelid = c.oid
  where not i.indisvalid`;

/** Each index of the parent that a partition lacks. */
const missing = `
  select parent.indexrelid::regclass::text as index, c.oid::regclass::text as partition, format('audit.%I', named) as name,
    regexp_replace(pg_get_indexdef(parent.indexrelid), '^CREATE( UNIQUE)? INDEX \\S+ ON ONLY \\S+',
      format('create\\1 index concurrently if not exists %I on audit.%I', named, c.relname)) as definition
  from pg_index parent
  join pg_class parent_name on parent_name.oid = parent.indexrelid
  cross join ${partitions}
  cross join lateral (select replace(parent_name.relname, 'changes', c.relname) as named) as counterpart
  where parent.indrelid = 'audit.changes'::regclass
    and not exists (
      select from pg_inherits i join pg_index own on own.indexrelid = i.inhrelid
      where i.inhparent = parent.indexrelid and own.indrelid = c.oid)`;
