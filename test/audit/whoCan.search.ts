import fc from 'fast-check';
import type { PoolClient } from 'pg';
import { rolledBack } from '../../src/database/pool/transactions.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { seed, sizeOf } from '../support/search.ts';
import { timeAt } from './asOf.ts';
import { company, insertCompany } from './support.ts';

// Who can and could see a row, by policies that are drawn, beside what each person finds who asks by plain SQL.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await insertCompany(database.owner);
  await database.owner.query(schema);
});
afterAll(() => database.drop());

test('audit.who_can, who_could and visible_at name what each person sees', async () => {
  let shown = 0;
  await fc.assert(
    fc.asyncProperty(
      policies,
      fc.option(policies),
      fc.constantFrom(...changes),
      fc.constantFrom(...people),
      async (policy, narrowing, change, person) => {
        await rolledBack(database.owner, async (client) => {
          await client.query(`alter policy select_graph_user on app_public.units using (${policy})`);
          if (narrowing)
            await client.query(
              `create policy narrow on app_public.units as restrictive for select to graph_user using (${narrowing})`,
            );
          const before = await unitsSeen(client);
          const at = await timeAt(client);
          await client.query(change);
          const after = await unitsSeen(client);

          expect(await namedBy(client, 'who_can($1, $2)')).toEqual(readersIn(after));
          expect(await namedBy(client, 'who_could($1, $2, $3)', at)).toEqual(readersIn(before));
          expect(await unitsVisibleAt(client, person, at)).toEqual(before.get(person));
          shown += Number(readersIn(before).length % people.length > 0);
        });
      },
    ),
    { seed, numRuns: sizeOf({ small: 3, whole: 150 }), endOnFailure: true },
  );
  // Some of the policies let some people through.
  expect(shown).toBeGreaterThan(0);
}, 600_000);

const people = [company.ada, company.grace, company.konrad, company.mallory];
const readersIn = (seen: ReadonlyMap<string, readonly string[]>) =>
  people.filter((person) => seen.get(person)?.includes(company.room)).map((person) => `me:${person}`);

/** The units that each person sees, by PostgreSQL alone. */
async function unitsSeen(client: PoolClient): Promise<ReadonlyMap<string, readonly string[]>> {
  const seen = new Map<string, string[]>();
  for (const person of people) {
    const organization = person === company.mallory ? company.rival : company.acme;
    await client.query(`savepoint asking;
      set local graph.organization_id = '${organization}'; set local graph.application_id = ''; set local graph.user_id = '${person}';
      set local graph.scope = 'me'; set local role graph_user`);
    const { rows } = await client.query<{ id: string }>('select id from app_public.units order by id');
    await client.query('rollback to asking');
    seen.set(
      person,
      rows.map(({ id }) => id),
    );
  }
  return seen;
}

async function namedBy(client: PoolClient, asked: string, ...values: string[]): Promise<string[]> {
  const text = `select principal from audit.${asked} where command = 'select' and principal like 'me:%' order by principal`;
  const { rows } = await client.query<{ principal: string }>(text, ['app_public.units', company.room, ...values]);
  return rows.map(({ principal }) => principal);
}

async function unitsVisibleAt(client: PoolClient, person: string, at: string): Promise<string[]> {
  const text = `select key from audit.visible_at($1, $2) where relation = 'app_public.units'::regclass order by key`;
  const { rows } = await client.query<{ key: string }>(text, [`me:${person}`, at]);
  return rows.map(({ key }) => key);
}

/** Tables with and without a history, views and functions that policies ask. */
const schema = `
  create table app_public."My Keys" (
    organization_id uuid not null references app_hidden.organizations, id uuid not null default app_hidden.uuid_v7(),
    "User" uuid not null, "from" uuid not null, primary key (organization_id, id));
  alter table app_public."My Keys" enable row level security, force row level security;
  create policy all_graph_admin on app_public."My Keys" to graph_admin using (true) with check (true);
  create policy select_graph_user on app_public."My Keys" for select to graph_user using (
    organization_id = (select app_hidden.current_organization_id()) and "User" = (select app_hidden.current_user_id()));
  grant select on app_public."My Keys" to graph_user, graph_admin;
  select audit.record('app_public."My Keys"');
  create table app_public.passes (organization_id uuid not null, unit_id uuid not null, primary key (organization_id, unit_id));
  alter table app_public.passes enable row level security, force row level security;
  create policy all_graph_admin on app_public.passes to graph_admin using (true) with check (true);
  create policy select_graph_user on app_public.passes for select to graph_user using (
    organization_id = (select app_hidden.current_organization_id())
    and exists (select from app_hidden.unit_access x where x.organization_id = passes.organization_id and x.unit_id = passes.unit_id));
  grant select on app_public.passes to graph_user, graph_admin;
  create view app_hidden.holders with (security_invoker = true) as
    select u.id from app_public.users u, app_public.card_assignments a where a.user_id = u.id;
  create view app_hidden.all_holders as select a.user_id as id from app_public.card_assignments a;
  grant select on app_hidden.holders, app_hidden.all_holders to graph_user;
  create function app_hidden.opens(unit_id uuid) returns boolean language sql stable as $$
    select exists (select from app_hidden.unit_access x where x.unit_id = opens.unit_id) $$;
  create function app_hidden.has_card() returns boolean language sql stable
    begin atomic select exists (select from app_public.users u, app_public.card_assignments a where a.user_id = u.id); end;
  create function app_hidden.is_known() returns boolean language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
    begin return exists (select from app_hidden.unit_access x where x.user_id = app_hidden.current_user_id()); end $$;
  grant execute on function app_hidden.opens(uuid), app_hidden.has_card(), app_hidden.is_known() to graph_user;
  insert into app_public."My Keys" (organization_id, "User", "from") values ('${company.acme}', '${company.konrad}', '${company.room}');
  insert into app_public.passes values ('${company.acme}', '${company.headquarters}'), ('${company.acme}', '${company.depot}')`;

/** What is taken away or given between the two moments. */
const changes = [
  'delete from app_public.card_assignments',
  `delete from app_hidden.unit_access where user_id = '${company.ada}'`,
  `insert into app_hidden.unit_access (organization_id, user_id, unit_id) values ('${company.acme}', '${company.konrad}', '${company.floor}')`,
  `update app_public.units set parent_id = '${company.depot}' where id = '${company.room}'`,
  `update app_public.users set full_name = 'Mara' where full_name in ('Ada', 'Mallory')`,
  'delete from app_public."My Keys"',
];

const policies = fc.letrec<{ any: string; leaf: string }>((tie) => ({
  leaf: fc
    .constantFrom(
      'organization_id = ORG',
      'ancestor_ids && (select app_hidden.granted_unit_ids())',
      'exists (select from app_public.users u, app_public.card_assignments a where a.user_id = u.id)',
      'exists (select from app_public.users u, app_public.card_assignments a where a.user_id = u.id and u.id = USER)',
      'exists (select from app_public.users u, lateral (select from app_hidden.unit_access x where x.user_id = u.id and x.unit_id = units.id) l)',
      "exists (select from app_public.users u cross join lateral (values (u.full_name)) v (name) where v.name ~ 'ra')",
      "exists (select from app_public.users u join app_public.card_assignments using (organization_id) where u.full_name = 'Konrad')",
      'id in (select x.unit_id from app_hidden.unit_access x where x.user_id in (select u.id from app_public.users u))',
      'id not in (select x.unit_id from app_hidden.unit_access x)',
      'id = any (array(select x.unit_id from app_hidden.unit_access x, app_public.users u where u.id = x.user_id))',
      'exists (with mine as (select a.card_id from app_public.card_assignments a) select from mine, app_public.cards where cards.id = mine.card_id)',
      'exists (select from app_public.cards users, app_public.users cards where cards.full_name <> users.name)',
      'exists (select from (select id, full_name from app_public.users) cards left join app_public.cards users on true where users.id is null)',
      'exists (select from only app_public.users as "A user" where "A user".full_name ~ \'^(Ad|Ma)\')',
      'exists (select from app_public."My Keys" k where k."from" = units.id and k."User" = USER)',
      'exists (select from app_public.users u where u.full_name = \'Ada\' union all select from app_public."My Keys")',
      "exists (select from app_public.users u where u.full_name = 'Mallory')",
      'exists (select from app_public.passes p where p.unit_id = any (units.ancestor_ids))',
      'exists (select from app_hidden.holders h where h.id = USER)',
      'USER in (table app_hidden.all_holders)',
      'app_hidden.opens(id)',
      'app_hidden.has_card()',
      '(select app_hidden.is_known())',
      "current_setting('graph.user_id', true) > id::text",
      '(select count(*) from app_public.users) = 1',
      'case when exists (table app_public.card_assignments) then parent_id is null else parent_id is not null end',
    )
    .map((text) =>
      text
        .replaceAll(/\bORG\b/g, '(select app_hidden.current_organization_id())')
        .replaceAll(/\bUSER\b/g, '(select app_hidden.current_user_id())'),
    ),
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('leaf'),
    fc.tuple(tie('any'), tie('any')).map(([a, b]) => `(${a}) and (${b})`),
    fc.tuple(tie('any'), tie('any')).map(([a, b]) => `(${a}) or (${b})`),
    tie('any').map((a) => `not (${a})`),
  ),
})).any;
