CREATE OR REPLACE FUNCTION app_public.card_assign(card_id uuid DEFAULT NULL::uuid, card_external_identifier text DEFAULT NULL::text, user_id uuid DEFAULT NULL::uuid, user_external_identifier text DEFAULT NULL::text)
 RETURNS app_public.card_assignments
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    own constant uuid = app_hidden.current_organization_id();
    assigned_id uuid;
    holder_id uuid;
    assignment app_public.card_assignments;
  begin
    perform app_hidden.require_one('cardId', card_id is not null, card_external_identifier is not null);
    perform app_hidden.require_one('userId', user_id is not null, user_external_identifier is not null);
    perform app_hidden.lock_organization(shared => true);
    assigned_id = app_hidden.find_card(card_id, card_external_identifier);
    holder_id = app_hidden.find_user(user_id, user_external_identifier);
    loop
      insert into app_public.card_assignments (organization_id, user_id, card_id) values (own, holder_id, assigned_id)
      on conflict do nothing
      returning * into assignment;
      if found then
        return assignment;
      end if;
      select * into assignment from app_public.card_assignments a
      where a.organization_id = own and a.card_id = assigned_id and a.user_id = holder_id;
      if found then
        return assignment;
      end if;
      if exists (select from app_public.card_assignments a where a.organization_id = own and a.card_id = assigned_id and a.is_exclusive) then
        raise unique_violation using
          message = 'Another user has this card.', column = case when card_id is null then 'cardExternalIdentifier' else 'cardId' end;
      end if;
      -- Withdrawn between the statements, it is assigned anew.
    end loop;
  end
  $function$;
comment on function app_public.card_assign(uuid,text,uuid,text) is '@mutation
@param {Card} cardId The card.
@param cardExternalIdentifier The card, by the identifier that the client system assigned.
@param {User} userId Who gets it.
@param userExternalIdentifier Who gets it, by the identifier that the client system assigned.
Assigns a card to a user; again, it is the same assignment. Several users may have an identification code, and one a badge or beacon. Exactly one of each two arguments is given. Needs an app token (scope `app`).';
grant execute on function app_public.card_assign(uuid,text,uuid,text) to graph_app;
