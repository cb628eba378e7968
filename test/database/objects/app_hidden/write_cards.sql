CREATE OR REPLACE FUNCTION app_hidden.write_cards(judged app_hidden.judged_card[])
 RETURNS app_public.cards[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'auto'
 SET enable_seqscan TO 'off'
AS $function$
  declare
    organization uuid = app_hidden.current_organization_id();
    known_ids uuid[] = array(select (before).id from unnest(judged) where outcome = 'UPDATED');
    changes_by_id jsonb = (
      select coalesce(jsonb_object_agg((before).id, changes), '{}') from unnest(judged) where outcome = 'UPDATED' and before *<> after);
    holders_by_id jsonb;
    locked int;
    changed app_public.cards[];
    created app_public.cards[];
  begin
    perform from app_public.cards c where c.organization_id = organization and c.id = any (known_ids) order by c.id for no key update;
    get diagnostics locked = row_count;
    if locked < cardinality(known_ids) then
      raise foreign_key_violation using message = 'A card was deleted meanwhile.';
    end if;

    -- One statement, so that cards may exchange what they are made of; before the new ones, which may get what these give up.
    with changed as (
      update app_public.cards c set (name, nfc_identifier, proximity_uuid, major, minor) = (
        -- Of the row as it is by now: what is not given stays as another session may have changed it meanwhile.
        select n.name, n.nfc_identifier, n.proximity_uuid, n.major, n.minor from jsonb_populate_record(c, changes_by_id -> c.id::text) as n
      )
      where c.organization_id = organization and c.id = any (known_ids) and changes_by_id ? c.id::text
      returning c
    )
    select array_agg(c) into changed from changed;

    with created as (
      insert into app_public.cards as c (organization_id, external_identifier, type, name, nfc_identifier, proximity_uuid, major, minor)
      select
        organization, (after).external_identifier, (after).type, (after).name, (after).nfc_identifier, (after).proximity_uuid, (after).major,
        (after).minor
      from unnest(judged)
      where outcome = 'CREATED'
      order by place
      returning c
    )
    select array_agg(c) into created from created;

    -- From one holder to the next: one has given it back before the other gets it.
    holders_by_id = (
      select jsonb_object_agg((before).id, to_jsonb(holder_ids)) from unnest(judged) where outcome = 'UPDATED' and holder_ids is not null);
    if holders_by_id is not null then
      delete from app_public.card_assignments a
      where a.organization_id = organization and a.card_id = any (known_ids)
        and holders_by_id ? a.card_id::text and not holders_by_id -> a.card_id::text ? a.user_id::text;
    end if;
    insert into app_public.card_assignments (organization_id, user_id, card_id)
    select organization, holder.id, coalesce((j.before).id, c.id)
    from unnest(judged) as j
    left join unnest(created) as c on c.external_identifier = j.external_identifier
    cross join lateral unnest(j.holder_ids) as holder (id)
    where j.outcome in ('CREATED', 'UPDATED')
      and not exists (
        select from app_public.card_assignments a
        where a.organization_id = organization and a.card_id = (j.before).id and a.user_id = holder.id)
    order by j.place;
    return changed || created;
  end
  $function$;
comment on function app_hidden.write_cards(app_hidden.judged_card[]) is 'Writes those cards of a sync that are new or differ, and who has them. Returns the cards that it has written.';
grant execute on function app_hidden.write_cards(app_hidden.judged_card[]) to graph_admin;
grant execute on function app_hidden.write_cards(app_hidden.judged_card[]) to graph_app;
