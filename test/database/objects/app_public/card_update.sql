CREATE OR REPLACE FUNCTION app_public.card_update(id uuid DEFAULT NULL::uuid, external_identifier text DEFAULT NULL::text, name text DEFAULT NULL::text, given text[] DEFAULT '{}'::text[])
 RETURNS app_public.cards
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    own constant uuid = app_hidden.current_organization_id();
    renames constant boolean = card_update.id is not null and 'externalIdentifier' = any (given);
    changed_id uuid;
    old_identifier text;
    card app_public.cards;
  begin
    perform app_hidden.require_values(given, '{name}', array[card_update.name]);
    if card_update.id is null then
      perform app_hidden.require_one('id', false, card_update.external_identifier is not null);
    end if;
    changed_id = coalesce(card_update.id, (
      select c.id from app_public.cards c where c.organization_id = own and c.external_identifier = card_update.external_identifier));
    if renames then
      perform app_hidden.lock_organization(shared => true);
      select c.external_identifier into old_identifier
      from app_public.cards c where c.organization_id = own and c.id = changed_id for update;
      perform app_hidden.lock_value('cards_external_identifier_key', card_update.external_identifier, old_identifier);
    end if;
    update app_public.cards c set
      name = coalesce(app_hidden.trimmed(card_update.name), c.name),
      external_identifier = case when renames then card_update.external_identifier else c.external_identifier end
    where c.organization_id = own and c.id = changed_id
    returning * into card;
    if not found then
      raise no_data_found using message = 'There is no such card';
    end if;
    return card;
  end
  $function$;
comment on function app_public.card_update(uuid,text,text,text[]) is '@mutation
@param {Given} given
@param {Card} id The card to change.
@param externalIdentifier With `id`, the new value (null clears it); without `id`, the card to change.
@param name Name: 1 to 200 characters.
Changes a card, found by `id`, or without it by `externalIdentifier`. An omitted argument leaves its value. Needs an app token (scope `app`).';
grant execute on function app_public.card_update(uuid,text,text,text[]) to graph_app;
