--! Previous: sha1:8a494eca57d0ae014b5b265e916ad9cbfea1be61
--! Hash: sha1:0ee06d7ac2918725efe09f29a318f26fcc021457
--! Message: ancestors of units

-- Who is below whom, which authorizes. It follows from parent_id; triggers keep it for every writer, however many write at once.
--
-- app_hidden.unit_ancestors has the pairs of units.ancestor_ids in the order of their keys, to list a subtree page by page.
-- The triggers that write them run with the rights of graph_helper: a writer of units needs no right over their ancestors.

create table app_hidden.unit_ancestors (
  organization_id uuid not null,
  ancestor_id uuid not null,
  unit_id uuid not null,
  constraint unit_ancestors_pkey primary key (organization_id, ancestor_id, unit_id)
);
-- Absent on purpose: foreign keys. They would be checked once for each pair, which takes twice as long as writing it; the triggers delete the
-- pairs of a unit with it, and a unit with descendants cannot be deleted.
-- And an index from a unit to its ancestors: units.ancestor_ids has these.
comment on table app_hidden.unit_ancestors is 'Each unit below each of its ancestors, itself included. Kept by triggers.';

alter table app_hidden.unit_ancestors enable row level security, force row level security;
create policy select_graph_helper on app_hidden.unit_ancestors for select to graph_helper using (true);
comment on policy select_graph_helper on app_hidden.unit_ancestors is 'The triggers of app_public.units find the pairs that no longer hold.';
create policy insert_graph_helper on app_hidden.unit_ancestors for insert to graph_helper with check (true);
comment on policy insert_graph_helper on app_hidden.unit_ancestors is 'The triggers of app_public.units add the pairs of new and moved units.';
create policy delete_graph_helper on app_hidden.unit_ancestors for delete to graph_helper using (true);
comment on policy delete_graph_helper on app_hidden.unit_ancestors is 'The triggers of app_public.units delete the pairs that no longer hold.';
create policy select_graph_admin on app_hidden.unit_ancestors for select to graph_admin using (true);
comment on policy select_graph_admin on app_hidden.unit_ancestors is 'Administration reads who is below whom; it writes units, and the triggers the rest.';
grant select on app_hidden.unit_ancestors to graph_admin;
grant select, insert, delete on app_hidden.unit_ancestors to graph_helper;

create policy select_graph_helper on app_public.units for select to graph_helper using (true);
comment on policy select_graph_helper on app_public.units is 'The trigger that moves subtrees reads the tree.';
create policy update_graph_helper on app_public.units for update to graph_helper using (true) with check (true);
comment on policy update_graph_helper on app_public.units is 'The trigger that moves subtrees writes ancestors; it may write no other column.';
grant select (organization_id, id, parent_id, ancestor_ids), update (ancestor_ids) on app_public.units to graph_helper;

-- Two levels of locks, as a table and its rows have them. A statement with claims writes units of their organization alone: it shares
-- the lock of all trees and takes that of its organization. One without claims may write units of any organization, and takes the lock of all.
-- Each statement takes the lock of all first.

create function app_hidden.lock_units(shared boolean default false) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    of_all bigint = hashtextextended('app_public.units', 0);
  begin
    if coalesce(current_setting('graph.organization_id', true), '') = '' then
      perform pg_advisory_xact_lock(of_all);
      return;
    end if;
    perform pg_advisory_xact_lock_shared(of_all);
    perform app_hidden.lock_organization(shared);
  end
  $$;
comment on function app_hidden.lock_units(boolean) is
  'app_hidden.lock_organization for what writes units, or grants on them; without claims it locks the trees of all organizations. It is called '
  'before any row is locked.';
grant execute on function app_hidden.lock_units(boolean) to graph_app, graph_admin;

-- A move looks at the tree of its organization, and a deletion locks many rows of it: both wait for each other and for inserts; inserts do
-- not wait for inserts. For statements by themselves, whose first lock this is.
create function app_hidden.units_lock_tree() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
  as $$
  begin
    if tg_op <> 'DELETE' and current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
      raise exception 'Units are added and moved in read committed transactions only'
        using errcode = 'feature_not_supported', hint = 'A statement must see what was committed before it got its turn.';
    end if;
    perform app_hidden.lock_units(tg_op = 'INSERT');
    return null;
  end
  $$;
create trigger units_100_lock_tree before insert or delete or update of parent_id on app_public.units
  for each statement execute function app_hidden.units_lock_tree();
comment on function app_hidden.units_lock_tree() is 'Locks the tree for a statement that adds, moves or deletes units.';

-- Places a unit with the rights of its writer: below a parent that the writer does not see there is nothing to be written. The lock keeps the
-- parent's ancestors as they are, and the foreign key the parent itself. A statement that moves the parent, too, leaves these to units_move_subtrees.
create function app_hidden.units_place() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
  as $$
  declare
    parent_ancestor_ids uuid[] = '{}';
  begin
    if new.organization_id <> app_hidden.current_organization_id() then
      raise exception 'A statement with claims writes units of its own organization only'
        using errcode = 'insufficient_privilege', hint = 'The lock of its tree is the only one that was taken.';
    end if;
    if new.parent_id is not null then
      select ancestor_ids into parent_ancestor_ids
      from app_public.units
      where organization_id = new.organization_id and id = new.parent_id;
      if not found then
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
comment on function app_hidden.units_place() is 'Writes which units a new or moved unit is below.';

-- Who is below whom authorizes, so that only these three triggers write it: who may write a unit needs no right over it.

create function app_hidden.units_insert_ancestors() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp set row_security = on
  as $$
  begin
    -- Runs as graph_helper because no other role may write ancestors.
    insert into app_hidden.unit_ancestors (organization_id, ancestor_id, unit_id)
    select organization_id, unnest(ancestor_ids), id from inserted;
    return null;
  end
  $$;
create trigger units_300_insert_ancestors after insert on app_public.units
  referencing new table as inserted
  for each statement execute function app_hidden.units_insert_ancestors();
comment on function app_hidden.units_insert_ancestors() is 'Adds the pairs of a new unit and those above it to app_hidden.unit_ancestors.';

create function app_hidden.units_delete_ancestors() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp set row_security = on
  as $$
  declare
    organization_ids uuid[];
    ancestor_ids uuid[];
    unit_ids uuid[];
  begin
    -- Runs as graph_helper because no other role may write ancestors.
    select array_agg(gone.organization_id), array_agg(gone.ancestor_id), array_agg(gone.unit_id) into organization_ids, ancestor_ids, unit_ids
    from (select organization_id, unnest(deleted.ancestor_ids) as ancestor_id, id as unit_id from deleted) as gone;
    delete from app_hidden.unit_ancestors a
    using unnest(organization_ids, ancestor_ids, unit_ids) as gone (organization_id, ancestor_id, unit_id)
    where a.organization_id = gone.organization_id and a.ancestor_id = gone.ancestor_id and a.unit_id = gone.unit_id;
    return null;
  end
  $$;
create trigger units_300_delete_ancestors after delete on app_public.units
  referencing old table as deleted
  for each statement execute function app_hidden.units_delete_ancestors();
comment on function app_hidden.units_delete_ancestors() is 'Deletes the pairs of deleted units from app_hidden.unit_ancestors.';

-- What has moved is found by `except`, and so are the pairs that differ. A join would compare the rows before and after each with each, by a
-- plan that was made for one row: 10,000 units moved in ten seconds. Pairs within what has moved stay.
create function app_hidden.units_move_subtrees() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp set row_security = on set plan_cache_mode = force_custom_plan
  as $$
  declare
    -- Units by their organizations and ids, pairs by their ancestors also: of the same length.
    organization_ids uuid[];
    unit_ids uuid[];
    ancestor_ids uuid[];
    is_circular boolean;
  begin
    -- Runs as graph_helper because no other role may write ancestors.
    select array_agg(moved.organization_id), array_agg(moved.id) into organization_ids, unit_ids
    from (select organization_id, id, parent_id from after except select organization_id, id, parent_id from before) as moved;
    if unit_ids is null then
      return null;
    end if;

    with recursive affected as (
      select u.organization_id, u.id, u.parent_id
      from unnest(organization_ids, unit_ids) as moved (organization_id, id)
      join app_public.units u using (organization_id, id)
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
    ),
    written as (
      update app_public.units u set ancestor_ids = placed.ancestor_ids
      from placed
      where u.organization_id = placed.organization_id and u.id = placed.id and u.ancestor_ids <> placed.ancestor_ids
    ),
    pairs_before as materialized (
      select u.organization_id, unnest(coalesce(b.ancestor_ids, u.ancestor_ids)) as ancestor_id, u.id as unit_id
      from affected
      join app_public.units u using (organization_id, id)
      left join before b using (organization_id, id)
    ),
    pairs_after as materialized (
      select organization_id, unnest(placed.ancestor_ids) as ancestor_id, id as unit_id from placed
    ),
    added as (
      insert into app_hidden.unit_ancestors (organization_id, ancestor_id, unit_id)
      table pairs_after except table pairs_before
    )
    select
        array_agg(gone.organization_id), array_agg(gone.ancestor_id), array_agg(gone.unit_id),
        (select count(*) from affected) > (select count(*) from placed)
      into organization_ids, ancestor_ids, unit_ids, is_circular
    from (table pairs_before except table pairs_after) as gone;
    -- No way leads from a root to what is in a circle or below one.
    if is_circular then
      raise exception 'A unit cannot be below itself'
        using errcode = 'check_violation', constraint = 'units_no_cycle', schema = 'app_public', table = 'units';
    end if;
    delete from app_hidden.unit_ancestors a
    using unnest(organization_ids, ancestor_ids, unit_ids) as gone (organization_id, ancestor_id, unit_id)
    where a.organization_id = gone.organization_id and a.ancestor_id = gone.ancestor_id and a.unit_id = gone.unit_id;
    return null;
  end
  $$;
create trigger units_300_move_subtrees after update on app_public.units
  referencing old table as before new table as after
  for each statement execute function app_hidden.units_move_subtrees();
comment on function app_hidden.units_move_subtrees() is
  'Takes all that is below a moved unit along, in ancestor_ids and in app_hidden.unit_ancestors, and rejects a unit that would be below itself.';
grant create on schema app_hidden to graph_helper;
alter function app_hidden.units_insert_ancestors() owner to graph_helper;
alter function app_hidden.units_delete_ancestors() owner to graph_helper;
alter function app_hidden.units_move_subtrees() owner to graph_helper;
revoke create on schema app_hidden from graph_helper;
