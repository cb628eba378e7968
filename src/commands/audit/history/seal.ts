import { setTimeout as delay } from 'node:timers/promises';
import type { ClientBase, Pool } from 'pg';
import { onlyRow, runTransaction } from '../../../database/pool/transactions.ts';
import type { Answer, AuditedDatabase } from '../withAuditedDatabase.ts';
import { Chains } from './chains.ts';
import { type Chain, hashEntry, hashSeal, type Seal } from './hashes.ts';
import { formatHead, type Head } from './head.ts';
import { asHashed, readEntries, readSeal, type SealWithHead, type Span } from './readHistory.ts';

/**
 * `audit seal`: chains the entries that no seal has yet, and prints the head, to be kept elsewhere.
 * Writers never wait for it, and it waits for them only briefly: entries of an open transaction belong to a later seal.
 */
export async function seal({ pool }: AuditedDatabase, maxIds = 100_000): Promise<Answer> {
  const end = await findEnd(pool);
  for (let isFirst = true; ; isFirst = false) {
    const begin = (client: ClientBase) => client.query('begin isolation level read committed');
    const { head, isLast } = await runTransaction(pool, begin, (client) => sealNext(client, end, { maxIds, isFirst }));
    if (isLast) return { text: formatHead(head), findings: 0 };
  }
}

type End = { sealedAt: string; until: number; isCertain: boolean };

/**
 * The highest id so far, and whether every transaction that may have drawn one up to it has ended.
 * A writer holds a lock on the history from before it draws an id until its entry is visible.
 */
async function findEnd(pool: Pool): Promise<End> {
  // In this order: an entry above `until` was then written after `sealedAt`, so its transaction need not be among the writers.
  const [{ sealedAt }] = (
    await pool.query(`select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as "sealedAt"`)
  ).rows;
  const [{ until }] = (
    await pool.query(`select case when is_called then last_value else 0 end::float8 as until from audit.changes_id_seq`)
  ).rows;
  let writers = await readWriters(pool, null);
  for (
    const deadline = performance.now() + writersMs;
    writers.length > 0 && performance.now() < deadline;
    await delay(20)
  )
    writers = await readWriters(pool, writers);
  return { sealedAt, until, isCertain: writers.length === 0 };
}

const writersMs = 500;

async function readWriters(pool: Pool, among: readonly string[] | null): Promise<string[]> {
  const { rows } = await pool.query<{ writer: string }>(
    `select distinct virtualtransaction as writer
     from pg_locks
     where relation = 'audit.changes'::regclass and mode = 'RowExclusiveLock'
       and database = (select oid from pg_database where datname = current_database())
       and ($1::text[] is null or virtualtransaction = any ($1))`,
    [among],
  );
  return rows.map(({ writer }) => writer);
}

async function sealNext(
  client: ClientBase,
  end: End,
  { maxIds, isFirst }: { readonly maxIds: number; readonly isFirst: boolean },
): Promise<{ head: Head; isLast: boolean }> {
  // One seal at a time. The lock is taken before the snapshot, so that the snapshot has the seal that it waited for.
  await client.query(`${asHashed} lock table audit.seals in share row exclusive mode`);
  const last = await readSeal(client);
  if (last && last.until > end.until) return { head: last, isLast: true };
  const number = (last?.number ?? 0) + 1;
  const after = last?.until ?? Number.MIN_SAFE_INTEGER;
  const chains = new Chains(client, number);
  const hash = (until: number) =>
    hashEntries(client, chains, { after, until, late: (isFirst && last?.pending) || '{}' });
  let until = Math.min(end.until, Math.max(after, 0) + maxIds);
  let { ids, marks } = await hash(until);
  if (ids.length === 0 && until < end.until) {
    // A longer gap is skipped.
    until = Math.min(end.until, (await findFirst(client, until, end.until)) - 1 + maxIds);
    ({ ids, marks } = await hash(until));
  }

  const unsettled = { pending: last?.pending ?? '{}', after: last?.until ?? 0, until };
  const ranges = await readRanges(client, ids, unsettled, end.isCertain);
  const isLast = until === end.until;
  if (last && ids.length === 0 && ranges.pending === last.pending) return { head: last, isLast };
  const made = { number, until, sealedAt: end.sealedAt, marks, ...ranges };
  return { head: await insertSeal(client, last, made, chains.list()), isLast };
}

async function hashEntries(client: ClientBase, chains: Chains, span: Span): Promise<{ ids: number[]; marks: Buffer }> {
  const ids: number[] = [];
  const marks: Buffer[] = [];
  for await (const entry of readEntries(client, span)) {
    const hash = hashEntry(entry);
    await chains.add(entry, hash);
    ids.push(entry.id);
    marks.push(hash.subarray(0, 4));
  }
  return { ids, marks: Buffer.concat(marks) };
}

/** The first id after another, or else the end. */
async function findFirst(client: ClientBase, after: number, end: number): Promise<number> {
  const { rows } = await client.query<{ id: number }>(
    'select coalesce(min(id), $2)::float8 as id from audit.changes where id > $1 and id <= $2',
    [after, end],
  );
  return rows[0]?.id ?? end;
}

/**
 * The sealed ids, and those whose entries may still appear, as multiranges.
 * A missing id may belong to an open transaction. Once all of these have ended, it is missing for good.
 */
async function readRanges(
  client: ClientBase,
  ids: readonly number[],
  { pending, after, until }: { readonly pending: string; readonly after: number; readonly until: number },
  isCertain: boolean,
): Promise<Pick<Seal, 'retention' | 'ids' | 'pending'>> {
  const found = await client.query<{ retention: string; ids: string; pending: string }>(
    `with sealed as (select coalesce(range_agg(int8range(id, id, '[]')), '{}') as ids from unnest($1::bigint[]) as id)
     select
       audit.retention()::text as retention, ids::text,
       case when $2 then '{}' else $3::int8multirange + int8multirange(int8range($4, $5, '(]')) - ids end::text as pending
     from sealed`,
    [ids, isCertain, pending, after, until],
  );
  return onlyRow(found);
}

async function insertSeal(
  client: ClientBase,
  last: SealWithHead | undefined,
  seal: Seal,
  chains: readonly Chain[],
): Promise<Head> {
  const head = hashSeal(last?.head, seal, chains);
  await client.query(
    `insert into audit.seals (number, sealed_at, retention, until, ids, pending, marks, head) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [seal.number, seal.sealedAt, seal.retention, seal.until, seal.ids, seal.pending, seal.marks, head],
  );
  await client.query(
    `insert into audit.chains (organization_id, month, seal, entries, head)
     select organization_id, month, $1, entries, head
     from unnest($2::uuid[], $3::date[], $4::bigint[], $5::bytea[]) as c (organization_id, month, entries, head)`,
    [
      seal.number,
      chains.map(({ organizationId }) => organizationId),
      chains.map(({ month }) => month),
      chains.map(({ entries }) => entries),
      chains.map(({ head }) => head),
    ],
  );
  return { number: seal.number, head };
}
