CREATE OR REPLACE FUNCTION app_hidden.refuse_cards(judged app_hidden.judged_card[])
 RETURNS app_hidden.judged_card[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
  declare
    organization uuid = app_hidden.current_organization_id();
    holders app_public.cards[];
    taken int[];
  begin
    holders = array(
      select c from app_public.cards c
      where c.organization_id = organization
        and c.nfc_identifier = any (array(select (after).nfc_identifier from unnest(judged) where outcome <> 'REFUSED')))
      || array(
      select c from app_public.cards c
      where c.organization_id = organization
        and (c.proximity_uuid, c.major, c.minor) in (
          select (after).proximity_uuid, (after).major, (after).minor from unnest(judged) where outcome <> 'REFUSED'));
    -- A card that does not give up what it has, since its row does not say so or is refused, keeps it; so one refusal may cause another.
    -- Of rows that want the same, the first gets it that nothing else refuses.
    loop
      with wanted as materialized (
        select place, (before).id as known_id, app_hidden.identity_of(after) as identity
        from unnest(judged)
        where outcome <> 'REFUSED'
      ),
      kept as (
        select w.place
        from wanted w
        join unnest(holders) as h on app_hidden.identity_of(h) = w.identity and h.id is distinct from w.known_id
        where not exists (select from wanted giver where giver.known_id = h.id and giver.identity <> w.identity)
      ),
      late as (
        select place
        from (select place, row_number() over (partition by identity order by place) as number from wanted where identity is not null) as w
        where number > 1 and not exists (select from kept)
      )
      select array_agg(place) into taken from (select place from kept union select place from late) as refused;
      exit when taken is null;
      select array_agg(
        case
          when j.place <> all (taken) then j
          else row (
            j.place, j.external_identifier, j.changes, j.before, j.after, j.holder_ids, 'REFUSED',
            app_hidden.card_refusal((
              select k.oid from pg_constraint k
              where k.conrelid = 'app_public.cards'::regclass
                and k.conname = case (j.after).type when 'NfcCard' then 'cards_nfc_identifier_key' else 'cards_beacon_key' end))
          )::app_hidden.judged_card
        end order by j.place) into judged
      from unnest(judged) as j;
    end loop;
    return judged;
  end
  $function$;
comment on function app_hidden.refuse_cards(app_hidden.judged_card[]) is 'Refuses those rows of a sync of cards that want what another card has or gets. Writes nothing.';
grant execute on function app_hidden.refuse_cards(app_hidden.judged_card[]) to graph_admin;
grant execute on function app_hidden.refuse_cards(app_hidden.judged_card[]) to graph_app;
