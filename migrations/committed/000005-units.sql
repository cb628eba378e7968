--! Previous: sha1:ba63612633721ebce07fc5a3901eb8eecb4b4ba3
--! Hash: sha1:7454ed5da537c47960f9d599f07fbd2ca5cb241f
--! Message: units

-- Units form a tree. Access granted to a unit covers its whole subtree.
--
-- Each unit carries the ids of its ancestors, itself last: a policy then decides about a unit from its own row.
-- The same pairs stand in app_hidden.unit_ancestors in the order of their keys, to list a subtree page by page.
-- Both follow from parent_id; triggers keep them, whoever writes and however many at once.

drop table if exists app_hidden.unit_ancestors;
drop table if exists app_hidden.unit_access;
drop table if exists app_public.units;
drop function if exists app_hidden.first_accessible_unit_ids(int, uuid);
drop function if exists app_hidden.granted_unit_ids();
drop function if exists app_hidden.units_move_subtrees();
drop function if exists app_hidden.units_insert_ancestors();
drop function if exists app_hidden.units_place();
drop function if exists app_hidden.units_lock_tree();

create table app_public.units (
  organization_id uuid not null,
  id uuid not null default app_hidden.uuid_v7(),
  parent_id uuid,
  external_identifier text,
  name text not null,
  ancestor_ids uuid[] not null,
  constraint units_pkey primary key (organization_id, id),
  constraint units_organization_id_fkey foreign key (organization_id) references app_hidden.organizations,
  constraint units_parent_id_fkey foreign key (organization_id, parent_id) references app_public.units,
  constraint units_external_identifier_key unique (organization_id, external_identifier),
  constraint units_external_identifier_length check (char_length(external_identifier) between 1 and 200),
  constraint units_name_text check (app_hidden.is_text(name)),
  constraint units_ancestor_ids_path check (
    ancestor_ids[cardinality(ancestor_ids)] = id
    and ancestor_ids[cardinality(ancestor_ids) - 1] is not distinct from parent_id)
);
-- `children` of one unit in the default order.
create index units_parent_id_idx on app_public.units (organization_id, parent_id, id);
-- `rootUnits`.
create index units_root_idx on app_public.units (organization_id, id) where parent_id is null;
-- Order by name, page by page.
create index units_name_idx on app_public.units (organization_id, name, id);
-- Counting and sorting what a person may access, when that is little.
create index units_ancestor_ids_idx on app_public.units using gin (ancestor_ids);

comment on table app_public.units is 'A unit in the tree of an organization.';
comment on column app_public.units.external_identifier is 'Identifier that the client system assigns to the unit; unique in the organization, compared exactly.';
comment on column app_public.units.name is 'Name.';
comment on constraint units_parent_id_fkey on app_public.units is E'@fieldName parent\n@foreignFieldName children\n@forwardDescription The unit above; null at the top, or when the token may not see it.\n@backwardDescription Units directly below.';
comment on column app_public.units.ancestor_ids is E'@behavior -*\nFrom the root to this unit, both included. Kept by triggers.';

create table app_hidden.unit_ancestors (
  organization_id uuid not null,
  ancestor_id uuid not null,
  unit_id uuid not null,
  constraint unit_ancestors_pkey primary key (organization_id, ancestor_id, unit_id),
  constraint unit_ancestors_unit_id_fkey foreign key (organization_id, unit_id) references app_public.units on delete cascade
);
-- Absent on purpose: a foreign key for ancestor_id. It would be checked once for each pair, and a unit with descendants cannot be deleted anyway.
create index unit_ancestors_unit_id_idx on app_hidden.unit_ancestors (organization_id, unit_id);
comment on table app_hidden.unit_ancestors is 'Each unit below each of its ancestors, itself included. Kept by triggers.';

-- A move looks at the whole tree, so moves wait for each other and for inserts; inserts do not wait for inserts.
-- Taken before any row is locked, so that two moves cannot deadlock.
create function app_hidden.units_lock_tree() returns trigger
  language plpgsql
  as $$
  begin
    if tg_op = 'INSERT' then
      perform pg_advisory_xact_lock_shared(hashtextextended('app_public.units', 0));
    elsif current_setting('transaction_isolation') <> 'read committed' then
      raise exception 'Units move in read committed transactions only'
        using errcode = 'feature_not_supported', hint = 'A statement must see what was committed before it got its turn.';
    else
      perform pg_advisory_xact_lock(hashtextextended('app_public.units', 0));
    end if;
    return null;
  end
  $$;
create trigger units_100_lock_tree before insert or update of parent_id on app_public.units
  for each statement execute function app_hidden.units_lock_tree();

create function app_hidden.units_place() returns trigger
  language plpgsql
  as $$
  declare
    parent_ancestor_ids uuid[] = '{}';
  begin
    if new.parent_id is not null then
      select ancestor_ids into parent_ancestor_ids
      from app_public.units
      where organization_id = new.organization_id and id = new.parent_id
      for share;
      if new.id = new.parent_id or new.id = any (parent_ancestor_ids) then
        raise exception 'A unit cannot be below itself'
          using errcode = 'check_violation', constraint = 'units_no_cycle', schema = 'app_public', table = 'units';
      elsif not found then
        raise exception 'The parent of a unit does not exist'
          using errcode = 'foreign_key_violation', constraint = 'units_parent_id_fkey', schema = 'app_public', table = 'units';
      end if;
    end if;
    new.ancestor_ids := parent_ancestor_ids || new.id;
    return new;
  end
  $$;
create trigger units_200_place before insert or update of parent_id on app_public.units
  for each row execute function app_hidden.units_place();

create function app_hidden.units_insert_ancestors() returns trigger
  language plpgsql
  as $$
  begin
    insert into app_hidden.unit_ancestors (organization_id, ancestor_id, unit_id)
    select organization_id, unnest(ancestor_ids), id from inserted;
    return null;
  end
  $$;
create trigger units_300_insert_ancestors after insert on app_public.units
  referencing new table as inserted
  for each statement execute function app_hidden.units_insert_ancestors();

create function app_hidden.units_move_subtrees() returns trigger
  language plpgsql
  as $$
  declare
    moved_ids uuid[] = array(
      select a.id from after a join before b using (organization_id, id) where a.parent_id is distinct from b.parent_id);
  begin
    if moved_ids = '{}' then
      return null;
    end if;

    -- units_place saw each row alone; several rows of one statement can still close a circle.
    if exists (
      with recursive above as (
        select organization_id, id, parent_id from app_public.units where id = any (moved_ids)
        union all
        select u.organization_id, u.id, u.parent_id
        from app_public.units u
        join above on u.organization_id = above.organization_id and u.id = above.parent_id
      ) cycle id set is_cycle using path
      select from above where is_cycle
    ) then
      raise exception 'A unit cannot be below itself'
        using errcode = 'check_violation', constraint = 'units_no_cycle', schema = 'app_public', table = 'units';
    end if;

    with recursive affected as (
      select organization_id, id, parent_id from app_public.units where id = any (moved_ids)
      union
      select u.organization_id, u.id, u.parent_id
      from app_public.units u
      join affected on u.organization_id = affected.organization_id and u.parent_id = affected.id
    ),
    placed as (
      select a.organization_id, a.id, coalesce(p.ancestor_ids, '{}') || a.id as ancestor_ids
      from affected a
      left join app_public.units p on p.organization_id = a.organization_id and p.id = a.parent_id
      where not exists (select from affected b where b.organization_id = a.organization_id and b.id = a.parent_id)
      union all
      select a.organization_id, a.id, placed.ancestor_ids || a.id
      from affected a
      join placed on placed.organization_id = a.organization_id and placed.id = a.parent_id
    )
    update app_public.units u set ancestor_ids = placed.ancestor_ids
    from placed
    where u.organization_id = placed.organization_id and u.id = placed.id and u.ancestor_ids <> placed.ancestor_ids;

    delete from app_hidden.unit_ancestors a
    using app_public.units u
    where a.organization_id = u.organization_id and a.unit_id = u.id and u.ancestor_ids && moved_ids;
    insert into app_hidden.unit_ancestors (organization_id, ancestor_id, unit_id)
    select organization_id, unnest(ancestor_ids), id from app_public.units where ancestor_ids && moved_ids;
    return null;
  end
  $$;
create trigger units_300_move_subtrees after update on app_public.units
  referencing old table as before new table as after
  for each statement execute function app_hidden.units_move_subtrees();

create table app_hidden.unit_access (
  organization_id uuid not null,
  user_id uuid not null,
  unit_id uuid not null,
  constraint unit_access_pkey primary key (organization_id, user_id, unit_id),
  constraint unit_access_user_id_fkey foreign key (organization_id, user_id) references app_public.users on delete cascade,
  constraint unit_access_unit_id_fkey foreign key (organization_id, unit_id) references app_public.units on delete cascade
);
create index unit_access_unit_id_idx on app_hidden.unit_access (organization_id, unit_id);
comment on table app_hidden.unit_access is 'Access granted to a person: to the unit and to everything below it.';

alter table app_hidden.unit_access enable row level security, force row level security;
create policy all_graph_admin on app_hidden.unit_access for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_hidden.unit_access is 'Administration grants and withdraws access.';
create policy select_graph_user on app_hidden.unit_access for select to graph_user
  using (organization_id = (select app_hidden.current_organization_id()) and user_id = (select app_hidden.current_user_id()));
comment on policy select_graph_user on app_hidden.unit_access is 'A person sees the own grants; every rule about units is built on them.';
grant select, insert, update, delete on app_hidden.unit_access to graph_admin;
grant select on app_hidden.unit_access to graph_user;

create function app_hidden.granted_unit_ids() returns uuid[]
  language sql stable parallel safe
  as $$ select array(select unit_id from app_hidden.unit_access) $$;
comment on function app_hidden.granted_unit_ids() is 'The units granted to the current person directly. Its caller''s policy on unit_access says whose they are.';
grant execute on function app_hidden.granted_unit_ids() to graph_user;

alter table app_public.units enable row level security, force row level security;
create policy all_graph_admin on app_public.units for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_public.units is 'Administration sees and changes every unit.';
create policy select_graph_app on app_public.units for select to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_app on app_public.units is 'An application reads all units of its organization.';
create policy select_graph_user on app_public.units for select to graph_user
  using (organization_id = (select app_hidden.current_organization_id()) and ancestor_ids && (select app_hidden.granted_unit_ids()));
comment on policy select_graph_user on app_public.units is 'A person sees the units granted to them and everything below these.';
create policy select_graph_basic on app_public.units for select to graph_basic using (false);
comment on policy select_graph_basic on app_public.units is 'A basic token reads no row.';
grant select, insert, update, delete on app_public.units to graph_admin;
grant select on app_public.units to graph_app, graph_user, graph_basic;

alter table app_hidden.unit_ancestors enable row level security, force row level security;
create policy all_graph_admin on app_hidden.unit_ancestors for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_hidden.unit_ancestors is 'The triggers of app_public.units write it with the rights of whoever changes a unit.';
create policy select_graph_user on app_hidden.unit_ancestors for select to graph_user
  using (
    organization_id = (select app_hidden.current_organization_id())
    -- A hashed subquery: as an array it would be searched anew for each of the grants that first_accessible_unit_ids walks.
    and ancestor_id in (select access.unit_id from app_hidden.unit_access access));
comment on policy select_graph_user on app_hidden.unit_ancestors is 'A person sees what is below the units granted to them.';
grant select, insert, update, delete on app_hidden.unit_ancestors to graph_admin;
grant select on app_hidden.unit_ancestors to graph_user;
-- Absent on purpose: rights of graph_app. It sees every unit of its organization without asking for ancestors.

-- A person may be granted a few deep units or all roots; no one plan over units is good for both. This reads at most `count` rows
-- for each grant, in the order of the key, and only from grants whose first row is early enough to matter. It decides nothing:
-- whoever joins with it still sees only what the policy on units lets through.
create function app_hidden.first_accessible_unit_ids(count int, after uuid) returns setof uuid
  language sql stable rows 100
  as $$
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
    limit first_accessible_unit_ids.count
  $$;
comment on function app_hidden.first_accessible_unit_ids(int, uuid) is 'The first `count` accessible units after a key, in the order of the key.';
grant execute on function app_hidden.first_accessible_unit_ids(int, uuid) to graph_user;
