CREATE OR REPLACE FUNCTION app_public.unit_delete(id uuid DEFAULT NULL::uuid, external_identifier text DEFAULT NULL::text, with_descendants boolean DEFAULT false)
 RETURNS app_public.units
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
  $function$;
comment on function app_public.unit_delete(uuid,text,boolean) is '@mutation
@param {Unit} id The unit to delete.
@param externalIdentifier The unit to delete, by the identifier that the client system assigned.
@param withDescendants = false Deletes all units below it, too. Without it, a unit that has units below it is not deleted: `CONFLICT`.
Deletes a unit with the grants on it. Exactly one of `id` and `externalIdentifier` is given. Needs an app token (scope `app`).';
grant execute on function app_public.unit_delete(uuid,text,boolean) to graph_app;
