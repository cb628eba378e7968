CREATE OR REPLACE FUNCTION app_public.unit_update(id uuid DEFAULT NULL::uuid, external_identifier text DEFAULT NULL::text, name text DEFAULT NULL::text, parent_id uuid DEFAULT NULL::uuid, parent_external_identifier text DEFAULT NULL::text, given text[] DEFAULT '{}'::text[])
 RETURNS app_public.units
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
  $function$;
comment on function app_public.unit_update(uuid,text,text,uuid,text,text[]) is '@mutation
@param {Given} given
@param {Unit} id The unit to change.
@param externalIdentifier With `id`, the new value (null clears it); without `id`, the unit to change.
@param name Name: 1 to 200 characters.
@param {Unit} parentId The unit above; null puts it at the top.
@param parentExternalIdentifier The unit above, by the identifier that the client system assigned; null puts it at the top.
Changes a unit, found by `id`, or without it by `externalIdentifier`; moves it with all below it. An omitted argument leaves its value. Needs an app token (scope `app`).';
grant execute on function app_public.unit_update(uuid,text,text,uuid,text,text[]) to graph_app;
