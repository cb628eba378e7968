const organization = 'organization_id = (select app_hidden.current_organization_id())';

/** More mistakes than those that the comparison with sets is held to: each is refuted or unproven. `tried`: refuted by a row. */
export const mistakes: Record<string, { sql: string; tried?: true }> = {
  // What a policy says.
  'compares the organization with itself': {
    tried: true,
    sql: `alter policy select_graph_app on app_public.users using (organization_id = organization_id)`,
  },
  'is not false instead of true': {
    tried: true,
    sql: `alter policy select_graph_app on app_public.users using ((${organization}) is not false)`,
  },
  'denies a denial': {
    tried: true,
    sql: `alter policy select_graph_app on app_public.cards using (not (organization_id <> (select app_hidden.current_organization_id())) or organization_id is not null)`,
  },
  'is distinct from nothing': {
    tried: true,
    sql: `alter policy select_graph_app on app_public.users using (organization_id is distinct from (select app_hidden.current_application_id()))`,
  },
  'takes no claim for a match': {
    tried: true,
    sql: `alter policy select_graph_app on app_public.units using (organization_id is not distinct from coalesce((select app_hidden.current_organization_id()), organization_id))`,
  },
  'lets a literal in': {
    tried: true,
    sql: `alter policy select_graph_app on app_public.users using (${organization} or full_name = 'Support')`,
  },
  'lets a number in': {
    sql: `alter policy select_graph_app on app_public.cards using (${organization} or major = 4711)`,
  },
  'lets what is null in': {
    tried: true,
    sql: `alter policy select_graph_app on app_public.cards using (${organization} or external_identifier is null)`,
  },
  'begins with a case': {
    tried: true,
    sql: `alter policy select_graph_app on app_public.users using (case when email is null then true when full_name like '%' then true else ${organization} end)`,
  },
  'has a case without an else that is met': {
    tried: true,
    sql: `alter policy select_graph_app on app_public.users using (case when ${organization} then true else true end)`,
  },
  'compares parts of keys': {
    sql: `alter policy select_graph_app on app_public.users using (left(organization_id::text, 4) = left((select app_hidden.current_organization_id())::text, 4))`,
  },
  'compares in the wrong order': {
    tried: true,
    sql: `alter policy select_graph_app on app_public.users using (organization_id >= (select app_hidden.current_organization_id()))`,
  },
  'asks the application for the organization': {
    tried: true,
    sql: `alter policy select_graph_user on app_public.users using (${organization} and id = id)`,
  },
  'swaps claims': {
    sql: `alter policy select_graph_user on app_public.users using (${organization} and id = (select app_hidden.current_application_id()))`,
  },
  'asks whether somebody is there': {
    tried: true,
    sql: `alter policy select_graph_user on app_public.users using (${organization} and (select app_hidden.current_user_id()) is not null)`,
  },
  'shows colleagues': {
    sql: `alter policy select_graph_user on app_public.users using (organization_id in (select organization_id from app_public.users u where u.id = (select app_hidden.current_user_id())))`,
  },
  'shows all cards of an organization': {
    tried: true,
    sql: `alter policy select_graph_user on app_public.cards using (${organization} and exists (select from app_public.card_assignments))`,
  },
  'correlates with nothing': {
    tried: true,
    sql: `alter policy select_graph_user on app_public.cards using (${organization} and exists (select from app_public.card_assignments a where a.card_id = a.card_id))`,
  },
  'shows what is not assigned': {
    tried: true,
    sql: `alter policy select_graph_user on app_public.cards using (${organization} and id <> all (array(select card_id from app_public.card_assignments)))`,
  },
  'shows units beside': {
    tried: true,
    sql: `alter policy select_graph_user on app_public.units using (${organization} and not (ancestor_ids && (select app_hidden.granted_unit_ids())))`,
  },
  'shows all units with a grant': {
    tried: true,
    sql: `alter policy select_graph_user on app_public.units using (${organization} and cardinality((select app_hidden.granted_unit_ids())) > 0)`,
  },
  'contains instead of overlapping': {
    tried: true,
    sql: `alter policy select_graph_user on app_public.units using (${organization} and (ancestor_ids @> '{}'))`,
  },
  'forgets the organization of what it joins': {
    sql: `alter policy select_graph_user on app_hidden.unit_ancestors using (ancestor_id in (select unit_id from app_hidden.unit_access))`,
  },
  'lets a person without grants see all': {
    tried: true,
    sql: `alter policy select_graph_user on app_public.units using (${organization} and (ancestor_ids && (select app_hidden.granted_unit_ids()) or not exists (select from app_hidden.unit_access a where a.unit_id = units.id)))`,
  },
  'needs two grants': {
    sql: `alter policy select_graph_user on app_public.units using (${organization} and ancestor_ids && (select app_hidden.granted_unit_ids()) and (select count(*) from app_hidden.unit_access) > 1)`,
  },
  // What policies there are.
  'is a second one': {
    tried: true,
    sql: `create policy more on app_public.users for select to graph_app using (email like '%@%')`,
  },
  'is for everybody': {
    tried: true,
    sql: `create policy more on app_public.card_assignments for select to public using (true)`,
  },
  'is for all commands': {
    sql: `grant update on app_public.card_assignments to graph_app; create policy more on app_public.card_assignments for update to graph_app using (${organization}) with check (true)`,
  },
  'lets a row move': {
    sql: `alter policy all_graph_oauth on oauth.sessions with check (true); grant update on oauth.sessions to graph_oauth`,
  },
  'checks with the old row alone': {
    tried: true,
    sql: `alter policy insert_graph_app on app_public.cards with check (organization_id is not null)`,
  },
  // What serves clients under a role of its own.
  'lets the worker change deliveries of every organization': {
    sql: `alter policy update_graph_worker on app_public.webhook_deliveries using (true) with check (true)`,
  },
  'lets the worker read people': {
    sql: `create policy more on app_public.users for select to graph_worker using (true); grant select on app_public.users to graph_worker`,
  },
  'lets a purge delete what is kept': {
    sql: `alter policy delete_graph_purger on app_public.webhook_deliveries using (true)`,
  },
  'lets a purge end a grant that has a token': {
    sql: `alter policy delete_graph_purger on oauth.grants using (not exists (select from oauth.refresh_tokens t where t.grant_id = grants.id))`,
  },
  'lets an erasure write into the history': {
    sql: `alter policy update_graph_helper on audit.changes with check (before is null)`,
  },
  'lets a helper delete people': {
    sql: `create policy more on app_public.users for delete to graph_helper using (true); grant delete on app_public.users to graph_helper`,
  },
  'lets administration rewrite the history': {
    sql: `create policy more on audit.changes for update to graph_admin using (true); grant update on audit.changes to graph_admin`,
  },
  // Rights beside policies.
  'is not forced on an owner that clients are': {
    tried: true,
    sql: `alter table app_public.cards no force row level security; alter table app_public.cards owner to graph_app`,
  },
  'is passed by by a role that is inherited': { tried: true, sql: `grant graph_admin to graph_user` },
  'is passed by by a role that may be become': {
    tried: true,
    sql: `do $$ begin if current_setting('server_version_num')::int >= 160000 then execute 'grant graph_admin to graph_user with inherit false, set true'; else execute 'grant graph_admin to graph_user'; end if; end $$`,
  },
  'is passed by by truncating': { tried: true, sql: `grant truncate on app_public.card_assignments to graph_app` },
  'guards a column that is granted': { sql: `grant update (ancestor_ids) on app_public.units to graph_app` },
  'is passed by in a materialized view': {
    sql: `create materialized view app_public.people as select * from app_public.users; grant select on app_public.people to graph_user`,
  },
  'is passed by in a view of a view': {
    tried: true,
    sql: `create view app_public.inner_people as select * from app_public.users; create view app_public.people with (security_invoker) as select * from app_public.inner_people; grant select on app_public.inner_people, app_public.people to graph_user`,
  },
  'is passed by in a view without the column': {
    sql: `create view app_public.people as select full_name from app_public.users; grant select on app_public.people to graph_user`,
  },
  'is passed by in a column of a view': {
    sql: `create view app_public.people as select organization_id, id, (select string_agg(email, ',') from app_public.users) as others from app_public.users where ${organization}; grant select on app_public.people to graph_app`,
  },
  'is passed by in writing a view': {
    sql: `create view app_public.people as select * from app_public.cards where ${organization}; grant insert on app_public.people to graph_app`,
  },
  'is passed by in a function of a policy': {
    sql: `create function app_hidden.mine() returns uuid[] language sql stable security definer set search_path = pg_catalog, pg_temp as $$ select array(select id from app_public.cards) $$; grant execute on function app_hidden.mine() to graph_user; alter policy select_graph_user on app_public.cards using (${organization} and id = any (app_hidden.mine()))`,
    tried: true,
  },
  'is passed by in a function that counts': {
    sql: `create function app_public.people() returns bigint language sql stable security definer set search_path = pg_catalog, pg_temp as $$ select count(*) from app_public.users $$; grant execute on function app_public.people() to graph_user`,
  },
  'is missing': {
    tried: true,
    sql: `create table app_public.notes (organization_id uuid not null, id uuid not null default app_hidden.uuid_v7(), primary key (organization_id, id)); grant select on app_public.notes to graph_app`,
  },
  'guards a table without an organization': {
    sql: `create table app_public.notes (id uuid primary key, body text); alter table app_public.notes enable row level security, force row level security; create policy select_graph_app on app_public.notes for select to graph_app using (true); grant select on app_public.notes to graph_app`,
  },
  'has a claim that a row chooses': {
    tried: true,
    sql: `create function app_hidden.chosen(uuid) returns uuid language sql stable as $$ select coalesce($1, app_hidden.current_organization_id()) $$; grant execute on function app_hidden.chosen(uuid) to graph_app; alter policy select_graph_app on app_public.users using (organization_id = app_hidden.chosen(organization_id))`,
  },
  'has a claim of another setting': {
    sql: `create or replace function app_hidden.current_organization_id() returns uuid language sql stable as $$ select nullif(current_setting('graph.tenant', true), '')::uuid $$`,
  },
  'has a claim with a default': {
    tried: true,
    sql: `create or replace function app_hidden.current_organization_id() returns uuid language sql stable as $$ select coalesce(nullif(current_setting('graph.organization_id', true), ''), 'aaaaaaaa-0000-7000-8000-000000000000')::uuid $$`,
  },
  'has a claim that its function sets itself': {
    sql: `alter function app_hidden.current_organization_id() set graph.organization_id = 'aaaaaaaa-0000-7000-8000-000000000000'`,
  },
  'is passed by by a role that bypasses it': { sql: `alter role graph_basic bypassrls`, tried: true },
  'is only restrictive by name': {
    tried: true,
    sql: `alter policy select_graph_app on app_public.users using (true); create policy narrow on app_public.users as restrictive for select to graph_basic using (${organization})`,
  },
  'is passed by in a cascade': {
    sql: `alter table app_public.units add unique (id); create table app_public.notes (organization_id uuid not null, unit_id uuid primary key references app_public.units (id) on delete cascade)`,
  },
  'trusts claims that a function sets': {
    sql: `create function app_public.become(organization uuid) returns text language sql volatile as $$ select set_config('graph.organization_id', organization::text, true) $$; grant execute on function app_public.become(uuid) to graph_app`,
  },
  'is passed by in a trigger': {
    sql: `create function app_hidden.copy() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$ begin update app_public.users set full_name = new.full_name; return new; end $$; create trigger copy after update on app_public.units for each row execute function app_hidden.copy()`,
  },
  'is passed by in a rule': {
    sql: `create rule more as on delete to app_public.cards do also delete from app_public.card_assignments`,
  },
};
