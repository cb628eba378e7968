CREATE OR REPLACE FUNCTION app_hidden.find_card(id uuid, external_identifier text)
 RETURNS uuid
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    own constant uuid = app_hidden.current_organization_id();
    found_id uuid;
  begin
    if find_card.id is null then
      select c.id into found_id from app_public.cards c
      where c.organization_id = own and c.external_identifier = find_card.external_identifier for key share;
    else
      select c.id into found_id from app_public.cards c where c.organization_id = own and c.id = find_card.id for key share;
    end if;
    if found_id is null then
      raise no_data_found using message = 'There is no such card';
    end if;
    return found_id;
  end
  $function$;
comment on function app_hidden.find_card(uuid,text) is 'The id of the card with this id or external identifier, which stays until the transaction ends; no_data_found without one.';
grant execute on function app_hidden.find_card(uuid,text) to graph_app;
