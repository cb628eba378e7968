import type { ClientBase } from 'pg';
import type { Chain, Entry, Seal } from './hashes.ts';

/** Begins a transaction that reads the history: one snapshot, and fixed formats of values. */
export const asHashed = `
  set transaction isolation level repeatable read;
  set local jit = off;
  set local work_mem = '64MB';
  set local search_path = pg_catalog, pg_temp;
  set local timezone = 'UTC';
  set local datestyle = 'ISO';
  set local intervalstyle = 'postgres';`;

/** Ids above `after` up to `until`, and those of the multirange `late` below. */
export type Span = { readonly after: number; readonly until: number; readonly late: string };

/** Reads entries in the order of their ids, in batches. */
export async function* readEntries(client: ClientBase, span: Span): AsyncGenerator<Entry> {
  await client.query(`declare entries no scroll cursor for ${entriesOf}`, [span.after, span.until, span.late]);
  try {
    for (let rows: Entry[] = []; ; ) {
      ({ rows } = await client.query<Entry>(`fetch ${entriesAtOnce} from entries`));
      for (const entry of rows) yield { ...entry, id: Number(entry.id) };
      if (rows.length < entriesAtOnce) return;
    }
  } finally {
    await client.query('close entries');
  }
}

const entriesAtOnce = 2000;

const entriesOf = `
  select
    id, organization_id as "organizationId", subject_id as "subjectId", to_char(occurred_at, 'YYYY-MM-01') as month,
    json_build_array(
      id, to_char(occurred_at, 'YYYY-MM-DD HH24:MI:SS.US'), organization_id, subject_id, relation, row_id, command, columns, role, login,
      application_id, user_id, grant_id, request_id, server_request_id)::text as entry,
    salt, before::text, after::text, encode(commitment, 'hex') as commitment
  from audit.changes
  where id > least($1::bigint, lower($3::int8multirange) - 1) and id <= $2::bigint and (id > $1::bigint or id <@ $3::int8multirange)
  order by id`;

export type SealWithHead = Seal & { readonly head: Buffer };

/** The newest seal, or the one with this number. */
export async function readSeal(client: ClientBase, number?: number): Promise<SealWithHead | undefined> {
  const { rows } = await client.query<SealWithHead>(
    `select
       number::float8, to_char(sealed_at, 'YYYY-MM-DD HH24:MI:SS.US') as "sealedAt", retention::text, until::float8,
       ids::text, pending::text, marks, head
     from audit.seals
     where $1::bigint is null or number = $1
     order by number desc
     limit 1`,
    [number ?? null],
  );
  return rows[0];
}

/** The entries that a seal has added, by chain. */
export async function readChains(client: ClientBase, seal: number): Promise<Chain[]> {
  const { rows } = await client.query<Chain>(
    `select organization_id as "organizationId", month::text, entries::float8, head
     from audit.chains
     where seal = $1
     order by organization_id, month`,
    [seal],
  );
  return rows;
}
