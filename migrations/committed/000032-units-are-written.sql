--! Previous: sha1:a4b2e8523b9c02ea8d5b0af781119435dbdf35ef
--! Hash: sha1:ee4a21933b920c547abc4d8402697f87fbeb51ba
--! Message: units are written

-- Units are written through the graph: an application adds, changes, moves and deletes those of its organization.

drop function if exists app_public.unit_delete(uuid, text, boolean);
drop function if exists app_public.unit_update(uuid, text, text, uuid, text, text[]);
drop function if exists app_public.unit_create(text, text, uuid, text);
drop function if exists app_hidden.find_unit(uuid, text);
drop function if exists app_hidden.require_values(text[], text[], text[]);
drop function if exists app_hidden.require_one(text, boolean, boolean);
drop policy if exists delete_graph_app on app_public.units;
drop policy if exists update_graph_app on app_public.units;
drop policy if exists insert_graph_app on app_public.units;

create policy insert_graph_app on app_public.units for insert to graph_app
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy insert_graph_app on app_public.units is 'An application adds units to its own organization only.';
create policy update_graph_app on app_public.units for update to graph_app
  using (organization_id = (select app_hidden.current_organization_id()))
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy update_graph_app on app_public.units is 'An application changes and moves units of its organization.';
create policy delete_graph_app on app_public.units for delete to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy delete_graph_app on app_public.units is 'An application deletes units of its organization.';
-- Absent on purpose: ancestor_ids, which decide who may enter. Triggers write them.
grant insert (organization_id, parent_id, external_identifier, name), update (parent_id, external_identifier, name), delete
  on app_public.units to graph_app;

comment on constraint units_external_identifier_key on app_public.units is E'@argument externalIdentifier\nAnother unit has this external identifier.';
comment on constraint units_external_identifier_length on app_public.units is E'@argument externalIdentifier\nAn external identifier has 1 to 200 characters.';
comment on constraint units_name_text on app_public.units is E'@argument name\nA name has 1 to 200 characters and no control characters.';

-- What mutations ask of their arguments. An error that names a column and no table is about the argument of that name.

create function app_hidden.require_one(argument text, one boolean, other boolean) returns void
  language plpgsql immutable set search_path = pg_catalog, pg_temp
  as $$
  begin
    if one = other then
      raise invalid_parameter_value using
        message = format('Give either %s or %s.', argument, case argument when 'id' then 'externalIdentifier' else regexp_replace(argument, 'Id$', 'ExternalIdentifier') end),
        column = argument;
    end if;
  end
  $$;
comment on function app_hidden.require_one(text, boolean, boolean) is 'Refuses the argument unless exactly one of two identifiers is given: it, or the external one.';

create function app_hidden.require_values(given text[], arguments text[], "values" text[]) returns void
  language plpgsql immutable set search_path = pg_catalog, pg_temp
  as $$
  declare
    missing text = (
      select a.argument
      from unnest(arguments, "values") with ordinality as a (argument, value, place)
      where a.argument = any (given) and a.value is null
      order by a.place
      limit 1);
  begin
    if missing is not null then
      raise invalid_parameter_value using message = format('%s cannot be null; leave it out to keep its value.', missing), column = missing;
    end if;
  end
  $$;
comment on function app_hidden.require_values(text[], text[], text[]) is 'Refuses the first of these arguments that is given and null.';
grant execute on function app_hidden.require_one(text, boolean, boolean), app_hidden.require_values(text[], text[], text[]) to graph_app;

create function app_hidden.find_unit(id uuid, external_identifier text) returns uuid
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    own constant uuid = app_hidden.current_organization_id();
    found_id uuid;
  begin
    if find_unit.id is null then
      select u.id into found_id from app_public.units u where u.organization_id = own and u.external_identifier = find_unit.external_identifier;
    else
      select u.id into found_id from app_public.units u where u.organization_id = own and u.id = find_unit.id;
    end if;
    if found_id is null then
      raise no_data_found using message = 'There is no such unit';
    end if;
    return found_id;
  end
  $$;
comment on function app_hidden.find_unit(uuid, text) is 'The id of the unit with this id or external identifier; no_data_found without one.';
grant execute on function app_hidden.find_unit(uuid, text) to graph_app;

create function app_public.unit_create(
  name text, external_identifier text default null, parent_id uuid default null, parent_external_identifier text default null
) returns app_public.units
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    parent uuid;
    unit app_public.units;
  begin
    if parent_id is not null or parent_external_identifier is not null then
      perform app_hidden.require_one('parentId', parent_id is not null, parent_external_identifier is not null);
      perform app_hidden.lock_units(true);
      parent = app_hidden.find_unit(parent_id, parent_external_identifier);
    end if;
    insert into app_public.units (organization_id, parent_id, external_identifier, name)
    values (app_hidden.current_organization_id(), parent, unit_create.external_identifier, app_hidden.trimmed(unit_create.name))
    returning * into unit;
    return unit;
  end
  $$;
comment on function app_public.unit_create(text, text, uuid, text) is
  E'@mutation\n'
  '@param name Name: 1 to 200 characters.\n'
  '@param externalIdentifier Identifier that the client system assigns: unique in the organization, 1 to 200 characters, compared exactly.\n'
  '@param {Unit} parentId The unit above; a unit without one is at the top.\n'
  '@param parentExternalIdentifier The unit above, by the identifier that the client system assigned.\n'
  'Adds a unit to the organization. At most one of the two arguments for the unit above is given. Needs an app token (scope `app`).';

create function app_public.unit_update(
  id uuid default null, external_identifier text default null, name text default null,
  parent_id uuid default null, parent_external_identifier text default null, given text[] default '{}'
) returns app_public.units
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    own constant uuid = app_hidden.current_organization_id();
    is_moved constant boolean = given && '{parentId,parentExternalIdentifier}';
    renames constant boolean = unit_update.id is not null and 'externalIdentifier' = any (given);
    changed_id uuid;
    parent uuid;
    unit app_public.units;
  begin
    perform app_hidden.require_values(given, '{name}', array[unit_update.name]);
    if unit_update.id is null then
      perform app_hidden.require_one('id', false, unit_update.external_identifier is not null);
    end if;
    if given @> '{parentId,parentExternalIdentifier}' and num_nonnulls(parent_id, parent_external_identifier) > 0 then
      perform app_hidden.require_one('parentId', true, true);
    end if;
    if is_moved then
      perform app_hidden.lock_units();
    end if;
    changed_id = app_hidden.find_unit(unit_update.id, unit_update.external_identifier);
    if num_nonnulls(parent_id, parent_external_identifier) > 0 then
      parent = app_hidden.find_unit(parent_id, parent_external_identifier);
      if exists (select from app_hidden.unit_ancestors a where a.organization_id = own and a.ancestor_id = changed_id and a.unit_id = parent) then
        raise invalid_parameter_value using
          message = 'A unit cannot be below itself',
          column = case when parent_id is null then 'parentExternalIdentifier' else 'parentId' end;
      end if;
    end if;
    if is_moved then
      update app_public.units u set parent_id = parent
      where u.organization_id = own and u.id = changed_id and u.parent_id is distinct from parent;
    end if;
    update app_public.units u set
      name = coalesce(app_hidden.trimmed(unit_update.name), u.name),
      external_identifier = case when renames then unit_update.external_identifier else u.external_identifier end
    where u.organization_id = own and u.id = changed_id
    returning * into unit;
    if not found then
      raise no_data_found using message = 'There is no such unit';
    end if;
    return unit;
  end
  $$;
comment on function app_public.unit_update(uuid, text, text, uuid, text, text[]) is
  E'@mutation\n@param {Given} given\n'
  '@param {Unit} id The unit to change.\n'
  '@param externalIdentifier With `id`, the new value (null clears it); without `id`, the unit to change.\n'
  '@param name Name: 1 to 200 characters.\n'
  '@param {Unit} parentId The unit above; null puts it at the top.\n'
  '@param parentExternalIdentifier The unit above, by the identifier that the client system assigned; null puts it at the top.\n'
  'Changes a unit, found by `id`, or without it by `externalIdentifier`; moves it with all below it. An omitted argument leaves its value. Needs an app token (scope `app`).';

create function app_public.unit_delete(id uuid default null, external_identifier text default null, with_descendants boolean default false)
  returns app_public.units
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    own constant uuid = app_hidden.current_organization_id();
    deleted_id uuid;
    unit app_public.units;
  begin
    perform app_hidden.require_one('id', unit_delete.id is not null, unit_delete.external_identifier is not null);
    perform app_hidden.lock_units();
    deleted_id = app_hidden.find_unit(unit_delete.id, unit_delete.external_identifier);
    if not coalesce(with_descendants, false) and exists (select from app_public.units u where u.organization_id = own and u.parent_id = deleted_id) then
      raise dependent_objects_still_exist using message = 'There are units below this one', column = 'withDescendants';
    end if;
    select * into strict unit from app_public.units u where u.organization_id = own and u.id = deleted_id;
    delete from app_public.units u
    where u.organization_id = own
      and u.id in (select a.unit_id from app_hidden.unit_ancestors a where a.organization_id = own and a.ancestor_id = deleted_id);
    -- As it was, but nothing leads from it any more.
    unit.parent_id = null;
    unit.ancestor_ids = '{}';
    return unit;
  end
  $$;
comment on function app_public.unit_delete(uuid, text, boolean) is
  E'@mutation\n'
  '@param {Unit} id The unit to delete.\n'
  '@param externalIdentifier The unit to delete, by the identifier that the client system assigned.\n'
  '@param withDescendants = false Whether all units below it go along; without that it is deleted only when there are none.\n'
  'Deletes a unit with the grants on it. Exactly one of `id` and `externalIdentifier` is given. Needs an app token (scope `app`).';

grant execute on function
  app_public.unit_create(text, text, uuid, text), app_public.unit_update(uuid, text, text, uuid, text, text[]), app_public.unit_delete(uuid, text, boolean)
  to graph_app;

-- As before, but for how it finds what has moved: joined, the rows before and after were compared each with each by a plan that was made for one
-- row, when the ancestors of what is below it are written: 10,000 units moved in ten seconds. And pairs within what has moved stay.
create or replace function app_hidden.units_move_subtrees() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
  as $$
  declare
    organization_ids uuid[];
    moved_ids uuid[];
  begin
    -- Runs as graph_helper because no other role may write ancestors.
    select array_agg(moved.organization_id), array_agg(moved.id) into organization_ids, moved_ids
    from (select organization_id, id, parent_id from after except select organization_id, id, parent_id from before) as moved;
    if moved_ids is null then
      return null;
    end if;

    -- units_place saw each row alone; several rows of one statement can still close a circle.
    if exists (
      with recursive above as (
        select u.organization_id, u.id, u.parent_id
        from unnest(organization_ids, moved_ids) as moved (organization_id, id)
        join app_public.units u using (organization_id, id)
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
      select u.organization_id, u.id, u.parent_id
      from unnest(organization_ids, moved_ids) as moved (organization_id, id)
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
    )
    update app_public.units u set ancestor_ids = placed.ancestor_ids
    from placed
    where u.organization_id = placed.organization_id and u.id = placed.id and u.ancestor_ids <> placed.ancestor_ids;

    delete from app_hidden.unit_ancestors a
    using app_public.units u
    where a.organization_id = u.organization_id and a.unit_id = u.id
      and u.organization_id = any (organization_ids) and u.ancestor_ids && moved_ids
      and a.ancestor_id <> all (u.ancestor_ids);
    insert into app_hidden.unit_ancestors (organization_id, ancestor_id, unit_id)
    select u.organization_id, above.id, u.id
    from app_public.units u
    cross join lateral unnest(u.ancestor_ids) as above (id)
    where u.organization_id = any (organization_ids) and u.ancestor_ids && moved_ids
      and not exists (
        select from app_hidden.unit_ancestors a
        where a.organization_id = u.organization_id and a.ancestor_id = above.id and a.unit_id = u.id);
    return null;
  end
  $$;
