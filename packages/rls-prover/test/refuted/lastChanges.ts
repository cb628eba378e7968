import { definer, view } from './last.ts';
import type { Refuted } from './support.ts';

const notes = 'table app.notes';

const accepted = (body: string, before = '') => `
  ${before};
  ${definer('mine', 'setof text', body)}`;
const mine = 'select app.mine()';

/** Changes after everything open was accepted, written from the manual alone after all others. */
export const lastChanges: readonly Refuted[] = [
  {
    title: 'another function that fits an accepted call better',
    schema: accepted(
      'select body from app.notes where tenant_id = app.least_tenant(1)',
      "create function app.least_tenant(bigint) returns int language sql immutable as 'select 1'",
    ),
    client: mine,
    change: "create function app.least_tenant(int) returns int language sql immutable as 'select 2'",
  },
  {
    title: 'the barrier of an accepted view',
    schema: view('select * from app.notes where tenant_id::numeric = app.t() + 0.0'),
    client: "select * from app.shown where case when body like '%2' then body::int = 0 else true end",
    change: 'alter view app.shown reset (security_barrier)',
  },
  {
    title: 'the membership that brings a policy to an accepted table',
    schema: `create role staff nologin;
      create policy staff on app.notes to staff using (true);
      drop policy own on app.notes;
      create policy own on app.notes to client using (tenant_id::numeric = app.t() + 0.0)`,
    client: notes,
    change: 'grant staff to client',
  },
];
