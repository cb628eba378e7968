CREATE OR REPLACE FUNCTION app_hidden.card_assignments_place()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    new.card_type = (select c.type from app_public.cards c where c.organization_id = new.organization_id and c.id = new.card_id);
    new.is_exclusive = new.card_type <> 'IdentificationCode';
    if new.is_exclusive is null and new.organization_id = app_hidden.current_organization_id() then
      raise exception 'The card of an assignment does not exist'
        using errcode = 'foreign_key_violation', constraint = 'card_assignments_card_id_fkey', schema = 'app_public', table = 'card_assignments';
    end if;
    return new;
  end
  $function$;
comment on function app_hidden.card_assignments_place() is 'Notes the type of the card of an assignment, and whether it has one holder at most.';
