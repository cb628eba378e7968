import type { PoolClient } from 'pg';
import { createTestDatabase } from '../support/database.ts';
import { treeDifferences } from '../support/treeDifferences.ts';

export type UnitTree = Awaited<ReturnType<typeof createUnitTree>>;

/** Moves the unit that is called $1 below the one that is called $2. */
export const moveStatement = `
  update app_public.units
  set parent_id = (select id from app_public.units where external_identifier = $2)
  where external_identifier = $1`;

/** A database in which each test plants units, those of the organization Acme. */
export async function createUnitTree() {
  const database = await createTestDatabase();
  const { owner } = database;
  let organization = '';

  const count = async (table: string) => Number((await owner.query(`select count(*) from ${table}`)).rows[0].count);

  /** @returns the id of Acme */
  async function begin(): Promise<string> {
    organization = await organizationOf('Acme');
    return organization;
  }

  async function clear(): Promise<void> {
    await owner.query('delete from app_public.units; delete from app_hidden.organizations');
    // Autovacuum is off, and the next test would read past what this one has left.
    await owner.query('vacuum app_public.units, app_hidden.unit_ancestors');
    expect([await count('app_public.units'), await count('app_hidden.unit_ancestors')]).toEqual([0, 0]);
  }

  /** Named `u0`, `u1`, …; each below the one whose index `parentOf` gives. */
  async function plant(count: number, parentOf: (index: number) => number | null): Promise<void> {
    for (let index = 0; index < count; index += 1) await insert(`u${index}`, parentOf(index));
  }

  const insert = (name: string, parent: number | null) =>
    owner.query(
      `insert into app_public.units (organization_id, external_identifier, name, parent_id)
       values ($1, $2, $2, (select id from app_public.units where external_identifier = $3))`,
      [organization, name, parent === null ? null : `u${parent}`],
    );

  const move = (name: string, parent: string | null) => owner.query(moveStatement, [name, parent]);

  const differences = () => treeDifferences(owner);

  /** How many wait for the lock of a tree. */
  const waiting = async () =>
    (await owner.query("select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'"))
      .rowCount;

  /** A transaction of a request of this organization, as the owner. */
  async function underClaims(organizationId: string): Promise<PoolClient> {
    const client = await owner.connect();
    await client.query('begin');
    await client.query(`select set_config('graph.organization_id', $1, true)`, [organizationId]);
    return client;
  }

  async function organizationOf(name: string): Promise<string> {
    const { rows } = await owner.query(
      `with added as (insert into app_hidden.organizations (name) values ($1) on conflict do nothing returning id)
       select id from added union all select id from app_hidden.organizations where name = $1`,
      [name],
    );
    return rows[0].id;
  }

  return {
    ...database,
    ...{ begin, clear, count, plant, insert, move, differences, waiting, underClaims, organizationOf },
  };
}

/** The same numbers in every run, from 0 to below the bound (Park and Miller). */
export function generator(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % bound;
  };
}
