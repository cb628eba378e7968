CREATE OR REPLACE FUNCTION app_public.card_delete(id uuid DEFAULT NULL::uuid, external_identifier text DEFAULT NULL::text)
 RETURNS app_public.cards
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    own constant uuid = app_hidden.current_organization_id();
    deleted_id uuid;
    card app_public.cards;
  begin
    perform app_hidden.require_one('id', card_delete.id is not null, card_delete.external_identifier is not null);
    deleted_id = coalesce(card_delete.id, (
      select c.id from app_public.cards c where c.organization_id = own and c.external_identifier = card_delete.external_identifier));
    -- A code may have several holders. Deletions of codes and of their holders would wait for each other's assignments.
    perform app_hidden.lock_organization(shared => coalesce(
      (select c.type <> 'IdentificationCode' from app_public.cards c where c.organization_id = own and c.id = deleted_id), true));
    delete from app_public.cards c where c.organization_id = own and c.id = deleted_id returning * into card;
    if not found then
      raise no_data_found using message = 'There is no such card';
    end if;
    return card;
  end
  $function$;
comment on function app_public.card_delete(uuid,text) is '@mutation
@param {Card} id The card to delete.
@param externalIdentifier The card to delete, by the identifier that the client system assigned.
Deletes a card with its assignments. Exactly one of the arguments is given. Needs an app token (scope `app`).';
grant execute on function app_public.card_delete(uuid,text) to graph_app;
