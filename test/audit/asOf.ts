import type { ClientBase, Pool } from 'pg';
import { company } from './support.ts';

export const backend = 'app:acme-backend';
export const ada = `me:${company.ada}`;
export const grace = `me:${company.grace}`;

/** By the clock of the database, which the history goes by. */
export async function timeAt(owner: Pool | ClientBase): Promise<string> {
  const { rows } = await owner.query<{ now: string }>('select clock_timestamp()::text as now');
  return rows[0]?.now ?? '';
}

/** The names of the units that a principal could see. */
export async function unitsSeenAt(owner: Pool, principal: string, at: string): Promise<string[]> {
  const text = `select value ->> 'name' as name from audit.visible_at($1, $2) where relation = 'app_public.units'::regclass order by name`;
  const { rows } = await owner.query<{ name: string }>(text, [principal, at]);
  return rows.map(({ name }) => name);
}

/** The principals that could see a row. */
export async function readersOfRowAt(owner: Pool, table: string, key: string, at: string): Promise<string[]> {
  const text = `select principal from audit.who_could($1, $2, $3) where command = 'select' order by principal`;
  const { rows } = await owner.query<{ principal: string }>(text, [table, key, at]);
  return rows.map(({ principal }) => principal);
}
