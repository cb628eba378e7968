import type { Client } from 'pg';
import { isCheckedKey, type SecretKeyCheck } from '../../../crypto/secrets.ts';
import type { Cell, Cells } from './cells.ts';
import { readMove } from './moves.ts';
import { findUnmovable, readColumns, readMovedTables, readSharedKeys } from './tables.ts';

type Wanted = Cells & {
  /** The old cell, at the address by which the other cell reaches it. */
  readonly source: Cell;
  readonly organizationId: string;
  readonly key: Buffer;
  /** Whether the organization is not yet there, not even in part. */
  readonly isNew: boolean;
};

/** Preflight checks: each finds why an organization cannot be moved, in sentences with the remedy, and changes nothing. */
export async function findProblems(wanted: Wanted): Promise<string[]> {
  const problems: string[] = [];
  for (const find of preflightChecks) {
    const found = await find(wanted);
    problems.push(...found);
    // Without rights or the same schema the next checks would fail, and not find.
    if (found.length > 0 && (find === findMissingRights || find === findOtherVersion)) break;
  }
  return problems;
}

type PreflightCheck = (wanted: Wanted) => Promise<string[]>;

const findMissingRights: PreflightCheck = async ({ from, to, source }) => {
  const problems: string[] = [];
  const remedy = 'use the URL of a superuser for this command.';
  if (!(await readRole(from.client)).isSuperuser)
    problems.push(`The role of DATABASE_URL may not end sessions of others and delete without triggers: ${remedy}`);
  if (!(await readRole(to.client)).isSuperuser)
    problems.push(`The role of --to may not write what is copied, past row-level security: ${remedy}`);
  const role = await readRole(source.client);
  if (!role.isSuperuser && !(role.replicates && role.bypassesPolicies))
    problems.push(
      `The role of --from may not read for a copy: alter role ${role.name} replication bypassrls, and grant it select on all tables.`,
    );
  return problems;
};

const findSameDatabase: PreflightCheck = async ({ from, to, source }) => {
  if (from.identity === to.identity)
    return ['--to is the database in which the organization is: name the database of another cell.'];
  return source.identity === from.identity
    ? []
    : [
        '--from leads to another database than DATABASE_URL: name an address of the same one, as the other cell reaches it.',
      ];
};

const findOtherVersion: PreflightCheck = async ({ from, to }) => {
  const [here, there] = [await readVersion(from.client), await readVersion(to.client)];
  if (here !== there)
    return [
      'The other database has other migrations: bring both cells to the same version, and run npm run db:migrate in each.',
    ];
  const [columns, others] = [await readColumns(from.client), await readColumns(to.client)];
  const differing = [...new Set(columns).symmetricDifference(new Set(others))];
  return differing.length === 0
    ? []
    : [`The databases differ in ${differing.slice(0, 3).join(', ')}: run the same migrations in both cells.`];
};

const findOtherKey: PreflightCheck = async ({ from, to, key }) => {
  const [here, there] = [await readKeyCheck(from.client), await readKeyCheck(to.client)];
  if (here && !isCheckedKey(key, here))
    return ['SECRET_KEY is not the key of this database: run the command with the environment of its service.'];
  if (!there) return ['The other database has not noted its SECRET_KEY: start its service once.'];
  return isCheckedKey(key, there)
    ? []
    : [
        'The other cell has another SECRET_KEY, under which nothing of the organization would open: give both cells the same one.',
      ];
};

const findTooFewResources: PreflightCheck = async ({ from, to, isNew }) => {
  const problems: string[] = [];
  const here = await readSettings(from.client);
  const there = await readSettings(to.client);
  if (here.wal_level !== 'logical')
    problems.push(`wal_level is ${here.wal_level} here: set it to logical, and restart PostgreSQL.`);
  // A move that goes on has its own already.
  if (!isNew) return problems;
  // One for the changes, and one for each table that is being copied.
  const needed = 1 + Number(there.max_sync_workers_per_subscription);
  const free: [string, number, string][] = [
    ['max_replication_slots', Number(here.max_replication_slots) - here.slots, 'here'],
    ['max_wal_senders', Number(here.max_wal_senders) - here.senders, 'here'],
    ['max_logical_replication_workers', Number(there.max_logical_replication_workers) - there.workers, 'there'],
    [there.origins_name, Number(there.max_origins) - there.origins, 'there'],
  ];
  for (const [name, count, where] of free)
    if (count < needed)
      problems.push(
        `Of ${name} ${Math.max(count, 0)} are free ${where}, and ${needed} are needed: raise it, and restart PostgreSQL.`,
      );
  return problems;
};

const findUnmovableTables: PreflightCheck = ({ from }) => findUnmovable(from.client);

/** It would go there from two databases at once. */
const findOtherMove: PreflightCheck = async ({ to, organizationId, isNew }) =>
  isNew && (await readMove(to, organizationId))
    ? ['The other database has a move of the organization already, from or to another one: finish or abort that first.']
    : [];

/** Finds collisions there: rows under the organization's id, and values of keys that span organizations. */
const findTaken: PreflightCheck = async ({ from, to, organizationId, isNew }) => {
  if (!isNew) return [];
  const problems: string[] = [];
  for (const { name, column } of await readMovedTables(to.client)) {
    const { rowCount } = await to.client.query(`select from ${name} where ${column} = $1 limit 1`, [organizationId]);
    if (rowCount !== 0) problems.push(`${name} there has rows of the organization already: delete them there first.`);
  }
  if (problems.length > 0) return problems;
  for (const { table, column, columns } of await readSharedKeys(from.client)) {
    const { rows } = await from.client.query<{ values: string[] }>(
      `select coalesce(array_agg(concat_ws(', ', ${columns})), '{}') as values from ${table} where ${column} = $1`,
      [organizationId],
    );
    const taken = await to.client.query<{ value: string }>(
      `select concat_ws(', ', ${columns}) as value from ${table} where concat_ws(', ', ${columns}) = any ($1) limit 3`,
      [rows[0]?.values ?? []],
    );
    const values = taken.rows.map(({ value }) => value).join(', ');
    if (values !== '')
      problems.push(
        `${columns} of ${table} is taken there by another organization: ${values}. Change it here or there.`,
      );
  }
  return problems;
};

const preflightChecks: readonly PreflightCheck[] = [
  findMissingRights,
  findSameDatabase,
  findOtherVersion,
  findOtherKey,
  findTooFewResources,
  findUnmovableTables,
  findOtherMove,
  findTaken,
];

async function readRole(client: Client) {
  const { rows } = await client.query<{
    name: string;
    isSuperuser: boolean;
    replicates: boolean;
    bypassesPolicies: boolean;
  }>(`
    select format('%I', rolname) as name, rolsuper as "isSuperuser", rolreplication as replicates, rolbypassrls as "bypassesPolicies"
    from pg_roles where rolname = current_user`);
  return rows[0] ?? { name: '', isSuperuser: false, replicates: false, bypassesPolicies: false };
}

async function readVersion(client: Client): Promise<string> {
  const { rows } = await client.query<{ hashes: string }>(
    "select coalesce(string_agg(hash, ' ' order by filename), '') as hashes from graphile_migrate.migrations",
  );
  return rows[0]?.hashes ?? '';
}

async function readKeyCheck(client: Client): Promise<SecretKeyCheck | null> {
  const { rows } = await client.query<SecretKeyCheck>('select salt, checksum from app_hidden.secret_key_check');
  return rows[0] ?? null;
}

/** PostgreSQL before 18 bounds the origins of subscriptions by `max_replication_slots`. */
async function readSettings(client: Client) {
  const { rows } = await client.query<
    Record<string, string> & { slots: number; senders: number; workers: number; origins: number }
  >(`
    select current_setting('wal_level') as wal_level, current_setting('max_replication_slots') as max_replication_slots,
      current_setting('max_wal_senders') as max_wal_senders,
      current_setting('max_logical_replication_workers') as max_logical_replication_workers,
      current_setting('max_sync_workers_per_subscription') as max_sync_workers_per_subscription,
      coalesce(current_setting('max_active_replication_origins', true), current_setting('max_replication_slots')) as max_origins,
      case when current_setting('max_active_replication_origins', true) is null then 'max_replication_slots'
        else 'max_active_replication_origins' end as origins_name,
      (select count(*)::int from pg_replication_slots) as slots, (select count(*)::int from pg_stat_replication) as senders,
      (select count(*)::int from pg_stat_subscription where pid is not null) as workers,
      (select count(*)::int from pg_replication_origin_status) as origins`);
  const [row] = rows;
  if (!row) throw new Error('A query without a table has a row');
  return row as typeof row & { wal_level: string; origins_name: string };
}
