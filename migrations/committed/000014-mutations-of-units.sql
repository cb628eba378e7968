--! Previous: sha1:38f619145b2880b670f07d43e72a5b74ea93fce7
--! Hash: sha1:14cc98df26d8122f42d7796ca41d7e6eac165ebf
--! Message: mutations of units

-- The mutations of units: an application adds, changes, moves and deletes those of its organization.
-- A function that moves or deletes units locks the organization exclusively; one that adds a unit below another shares the lock.

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
      -- The row before the value: another write may give the parent the external identifier of the new unit.
      perform from app_public.units u where u.organization_id = (select app_hidden.current_organization_id()) and u.id = parent for key share;
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
    old_identifier text;
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
    elsif renames then
      perform app_hidden.lock_organization(shared => true);
    end if;
    changed_id = app_hidden.find_unit(unit_update.id, unit_update.external_identifier);
    if renames then
      select u.external_identifier into old_identifier
      from app_public.units u where u.organization_id = own and u.id = changed_id for update;
      perform app_hidden.lock_value('units_external_identifier_key', unit_update.external_identifier, old_identifier);
    end if;
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
  '@param withDescendants = false Deletes all units below it, too. Without it, a unit that has units below it is not deleted: `CONFLICT`.\n'
  'Deletes a unit with the grants on it. Exactly one of `id` and `externalIdentifier` is given. Needs an app token (scope `app`).';

grant execute on function
  app_public.unit_create(text, text, uuid, text), app_public.unit_update(uuid, text, text, uuid, text, text[]), app_public.unit_delete(uuid, text, boolean)
  to graph_app;
