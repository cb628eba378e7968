CREATE OR REPLACE FUNCTION app_hidden.units_place()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
  $function$;
comment on function app_hidden.units_place() is 'Writes which units a new or moved unit is below.';
