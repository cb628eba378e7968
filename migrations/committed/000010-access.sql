--! Previous: sha1:0ee06d7ac2918725efe09f29a318f26fcc021457
--! Hash: sha1:184a01647de450471e4efcc9bd10c5a805336e67
--! Message: access

-- Access lets a person enter a unit and everything below it. Every rule about units is built on app_hidden.unit_access.
--
-- A grant is given by hand, or by a system that is its source, and may begin and end. Outside its time it gives no access: rules compare
-- its time with that of the statement, so that nothing has to run when a grant begins or ends. An application reads it all the same. The
-- person does not, who may not see its unit either.
--
-- In the graph a grant is a row of the view app_public.access_grants. A key of the table leads from a person to the units, an index from a
-- unit to the people. Both have the times, so that rules need not read the table.

create function app_hidden.current_moment() returns timestamptz
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$ begin return statement_timestamp(); end $$;
comment on function app_hidden.current_moment() is 'The time that access is asked for: now. audit.rebuild puts another one in its place.';
grant execute on function app_hidden.current_moment() to graph_app, graph_user, graph_basic, graph_admin;

create table app_hidden.unit_access (
  organization_id uuid not null,
  id uuid not null default app_hidden.uuid_v7(),
  user_id uuid not null,
  unit_id uuid not null,
  source text collate "C",
  valid_from timestamptz,
  valid_until timestamptz,
  created_at timestamptz not null default now(),
  constraint unit_access_pkey primary key (organization_id, id),
  constraint unit_access_user_id_unit_id_source_key
    unique nulls not distinct (organization_id, user_id, unit_id, source) include (valid_from, valid_until),
  constraint unit_access_source_length check (char_length(source) between 1 and 200),
  constraint unit_access_validity check (valid_until > valid_from),
  constraint unit_access_user_id_fkey foreign key (organization_id, user_id) references app_public.users on delete cascade,
  constraint unit_access_unit_id_fkey foreign key (organization_id, unit_id) references app_public.units on delete cascade
);
-- `accessGrants` of a user and of a unit, in the default order.
create index unit_access_user_id_idx on app_hidden.unit_access (organization_id, user_id, id);
create index unit_access_unit_id_idx on app_hidden.unit_access (organization_id, unit_id, id) include (user_id, valid_from, valid_until);
comment on table app_hidden.unit_access is 'Access granted to a person: to the unit and to everything below it.';
comment on column app_hidden.unit_access.source is 'The system that has given it, compared exactly; null when it was given by hand.';
comment on column app_hidden.unit_access.valid_from is 'From when it gives access; null for ever since.';
comment on column app_hidden.unit_access.valid_until is 'Until when, exclusive, it gives access; null for ever.';
comment on constraint unit_access_source_length on app_hidden.unit_access is E'@argument source\nA source has 1 to 200 characters.';
comment on constraint unit_access_validity on app_hidden.unit_access is E'@argument validUntil\nA grant ends after it begins.';

alter table app_hidden.unit_access enable row level security, force row level security;
create policy all_graph_admin on app_hidden.unit_access for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_hidden.unit_access is 'Administration grants and withdraws access.';
create policy select_graph_user on app_hidden.unit_access for select to graph_user
  using (
    organization_id = (select app_hidden.current_organization_id()) and user_id = (select app_hidden.current_user_id())
    and (valid_from is null or valid_from <= (select app_hidden.current_moment()))
    and (valid_until is null or valid_until > (select app_hidden.current_moment())));
comment on policy select_graph_user on app_hidden.unit_access is 'A person sees the own grants within their time; every rule about units is built on them.';
create policy select_graph_app on app_hidden.unit_access for select to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_app on app_hidden.unit_access is 'An application sees who may enter which unit of its organization.';
create policy select_graph_basic on app_hidden.unit_access for select to graph_basic using (false);
comment on policy select_graph_basic on app_hidden.unit_access is 'A basic token reads no row.';
create policy insert_graph_app on app_hidden.unit_access for insert to graph_app
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy insert_graph_app on app_hidden.unit_access is 'An application grants access to units of its own organization only.';
create policy update_graph_app on app_hidden.unit_access for update to graph_app
  using (organization_id = (select app_hidden.current_organization_id()))
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy update_graph_app on app_hidden.unit_access is 'An application changes the time of grants of its organization, and nothing else of them.';
create policy delete_graph_app on app_hidden.unit_access for delete to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy delete_graph_app on app_hidden.unit_access is 'An application revokes access to units of its organization.';
grant select, insert, update, delete on app_hidden.unit_access to graph_admin;
grant select on app_hidden.unit_access to graph_app, graph_user, graph_basic;
grant insert (organization_id, user_id, unit_id, source, valid_from, valid_until), update (valid_from, valid_until), delete
  on app_hidden.unit_access to graph_app;

create function app_hidden.granted_unit_ids() returns uuid[]
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$ begin return array(select unit_id from app_hidden.unit_access); end $$;
comment on function app_hidden.granted_unit_ids() is 'The units granted to the current person directly. Its caller''s policy on unit_access says whose they are.';
grant execute on function app_hidden.granted_unit_ids() to graph_user;

create policy select_graph_user on app_public.units for select to graph_user
  using (organization_id = (select app_hidden.current_organization_id()) and ancestor_ids && (select app_hidden.granted_unit_ids()));
comment on policy select_graph_user on app_public.units is 'A person sees the units granted to them and everything below these.';

create policy select_graph_user on app_hidden.unit_ancestors for select to graph_user
  using (
    organization_id = (select app_hidden.current_organization_id())
    -- A hashed subquery: as an array it would be searched anew for each of the grants that first_accessible_unit_ids walks.
    and ancestor_id in (select access.unit_id from app_hidden.unit_access access));
comment on policy select_graph_user on app_hidden.unit_ancestors is 'A person sees what is below the units granted to them.';
create policy select_graph_app on app_hidden.unit_ancestors for select to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_app on app_hidden.unit_ancestors is 'An application sees which unit of its organization is below which.';
grant select on app_hidden.unit_ancestors to graph_app, graph_user;

-- A person may be granted a few deep units or all roots; no one plan over units is good for both. This reads at most `count` rows
-- for each grant, in the order of the key, and only from grants whose first row is early enough to matter. It decides nothing:
-- a caller who joins with it still sees only the units that the policy lets through.
create function app_hidden.first_accessible_unit_ids(user_id uuid, count int, after uuid) returns setof uuid
  language plpgsql stable rows 100 set search_path = pg_catalog, pg_temp
  as $$
  begin
    return query
    with granted as materialized (
      select access.unit_id, first.unit_id as first_id
      from app_hidden.unit_access access
      cross join lateral (
        select unit_id
        from app_hidden.unit_ancestors
        where organization_id = (select app_hidden.current_organization_id())
          and ancestor_id = access.unit_id
          and unit_id > coalesce(first_accessible_unit_ids.after, '00000000-0000-0000-0000-000000000000')
        order by unit_id
        limit 1
      ) as first
      where access.organization_id = (select app_hidden.current_organization_id()) and access.user_id = first_accessible_unit_ids.user_id
        and (access.valid_from is null or access.valid_from <= (select app_hidden.current_moment()))
        and (access.valid_until is null or access.valid_until > (select app_hidden.current_moment()))
    ),
    -- `count` grants with different first rows hold at least `count` units up to the last of these: the page ends there.
    bound as materialized (
      select coalesce(
        (select distinct first_id from granted order by first_id offset first_accessible_unit_ids.count - 1 limit 1),
        'ffffffff-ffff-ffff-ffff-ffffffffffff') as id
    )
    select distinct a.unit_id
    from granted
    cross join lateral (
      select unit_id
      from app_hidden.unit_ancestors
      where organization_id = (select app_hidden.current_organization_id())
        and ancestor_id = granted.unit_id
        and unit_id between granted.first_id and (select id from bound)
      order by unit_id
      limit first_accessible_unit_ids.count
    ) as a
    where granted.first_id <= (select id from bound)
    order by a.unit_id
    limit first_accessible_unit_ids.count;
  end
  $$;
comment on function app_hidden.first_accessible_unit_ids(uuid, int, uuid) is 'The first `count` units after a key that a user may enter, in the order of the key.';
-- A basic token has no units; up to PostgreSQL 15 a statement that would call it for no row needs the right, too.
grant execute on function app_hidden.first_accessible_unit_ids(uuid, int, uuid) to graph_app, graph_user, graph_basic;

create view app_public.access_grants with (security_invoker = true) as
  select organization_id, id, user_id, unit_id, source, valid_from, valid_until, created_at from app_hidden.unit_access;
comment on view app_public.access_grants is
  E'@primaryKey id\n'
  '@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName accessGrants|@forwardBehavior -*|@backwardBehavior -list +connection|@backwardDescription All grants of the organization, those that have ended or have yet to begin included.\n'
  '@foreignKey (organization_id, user_id) references app_public.users (organization_id, id)|@fieldName user|@foreignFieldName accessGrants|@notNull|@backwardBehavior -list +connection|@forwardDescription Who may enter.|@backwardDescription The units that the user may enter, each with all below it, from their beginning to their end.\n'
  '@foreignKey (organization_id, unit_id) references app_public.units (organization_id, id)|@fieldName unit|@foreignFieldName accessGrants|@notNull|@backwardBehavior -list +connection|@forwardDescription The unit that the user may enter, and all below it.|@backwardDescription Who may enter by a grant on this very unit.\n'
  'Access of a user to a unit and to everything below it. Outside its time a grant gives no access.';
comment on column app_public.access_grants.user_id is '@behavior -*';
comment on column app_public.access_grants.unit_id is '@behavior -*';
comment on column app_public.access_grants.source is E'@behavior -orderBy\nThe system that has given it; null when it was given by hand.';
comment on column app_public.access_grants.valid_from is E'@behavior -orderBy\nFrom when it gives access; null for ever since.';
comment on column app_public.access_grants.valid_until is E'@behavior -orderBy\nUntil when, exclusive, it gives access; null for ever.';
comment on column app_public.access_grants.created_at is E'@notNull\n@behavior -orderBy\nWhen access was granted.';
grant select on app_public.access_grants to graph_app, graph_user, graph_basic;
