CREATE OR REPLACE FUNCTION app_hidden.judge_cards(given jsonb[])
 RETURNS app_hidden.judged_card[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
  declare
    organization uuid = app_hidden.current_organization_id();
    -- Rows by an index, in statements of their own: else all cards and users of the organization might be read.
    known app_public.cards[] = array(
      select c from app_public.cards c
      where c.organization_id = organization
        and c.external_identifier = any (array(select g ->> 'external_identifier' from unnest(judge_cards.given) as g)));
    user_ids jsonb = (
      select jsonb_object_agg(u.external_identifier, u.id) from app_public.users u
      where u.organization_id = organization
        and u.external_identifier = any (array(select g ->> 'user_external_identifier' from unnest(judge_cards.given) as g)));
    held jsonb = (
      select jsonb_object_agg(a.card_id, a.holder_ids)
      from (
        select a.card_id, array_agg(a.user_id) as holder_ids
        from app_public.card_assignments a
        where a.organization_id = organization and a.card_id = any (array(select k.id from unnest(known) as k))
        group by a.card_id
      ) as a);
    new_card app_public.cards;
  begin
    new_card.organization_id = organization;
    -- A placeholder: a new card gets its id when it is written.
    new_card.id = app_hidden.uuid_v7();
    return (
      with given as materialized (
        select
          place, g ->> 'external_identifier' as external_identifier, g -> 'name' as name,
          upper(g ->> 'nfc_identifier' collate "C") as nfc_identifier, nullif(g -> 'beacon', 'null') as beacon,
          g ->> 'user_external_identifier' as holder, g ? 'user_external_identifier' as has_holder,
          g -> 'nfc_identifier' = 'null' as clears_nfc, g -> 'beacon' = 'null' as clears_beacon,
          row_number() over (partition by g ->> 'external_identifier' collate "C" order by place) as number
        from unnest(judge_cards.given) with ordinality as rows (g, place)
      ),
      compared as materialized (
        select
          g.*, k as before, (user_ids ->> g.holder)::uuid as holder_id,
          case when g.nfc_identifier is not null then 'NfcCard' when g.beacon is not null then 'BeaconCard' end as type,
          jsonb_strip_nulls(jsonb_build_object('name', app_hidden.trimmed(g.name #>> '{}'), 'nfc_identifier', g.nfc_identifier))
            || coalesce(g.beacon, '{}') as changes
        from given g
        left join unnest(known) as k on k.external_identifier = g.external_identifier
      ),
      wanted as materialized (
        select
          c.*,
          case
            when (c.before).id is null then jsonb_populate_record(
              new_card, c.changes || jsonb_build_object('external_identifier', c.external_identifier, 'type', coalesce(c.type, 'IdentificationCode')))
            -- Of another type it is refused, and judged as it is.
            when c.type <> (c.before).type then c.before
            else jsonb_populate_record(c.before, c.changes)
          end as after,
          case when c.has_holder then array_remove(array[c.holder_id], null) end as holder_ids,
          array(select jsonb_array_elements_text(held -> (c.before).id::text)::uuid) as old_holder_ids
        from compared c
      ),
      checks as (
        select n as place, rule
        from unnest(app_hidden.broken_checks((select array_agg(w.after order by w.place) from wanted w))) with ordinality as broken (rule, n)
      ),
      judged as (
        select
          w.*,
          case
            when w.number > 1 then row ('CONFLICT', 'externalIdentifier', 'An earlier row has this external identifier.')::app_public.sync_error
            when w.nfc_identifier is not null and w.beacon is not null
              then row ('BAD_USER_INPUT', 'beacon', 'A card has an NFC identifier or a beacon, and not both.')::app_public.sync_error
            when (w.before).id is null and w.name #>> '{}' is null
              then row ('BAD_USER_INPUT', 'name', 'A new card needs name.')::app_public.sync_error
            when missing.argument is not null and (w.before).id is not null
              then row ('BAD_USER_INPUT', missing.argument, missing.argument || ' cannot be null; leave it out to keep its value.')::app_public.sync_error
            when w.type <> (w.before).type
              then row (
                'BAD_USER_INPUT', case w.type when 'NfcCard' then 'nfcIdentifier' else 'beacon' end,
                format('The type of a card does not change, and this one is of the type %s.', (w.before).type))::app_public.sync_error
            when checks.rule is not null then app_hidden.card_refusal(checks.rule)
            when w.holder is not null and w.holder_id is null
              then row ('NOT_FOUND', 'userExternalIdentifier', 'There is no such user.')::app_public.sync_error
          end as error
        from wanted w
        join checks using (place)
        cross join lateral (
          select case
            when w.name = 'null' then 'name'
            when w.clears_nfc and (w.before).type = 'NfcCard' then 'nfcIdentifier'
            when w.clears_beacon and (w.before).type = 'BeaconCard' then 'beacon'
          end as argument
        ) as missing
      )
      select array_agg(row (
        j.place, j.external_identifier, j.changes, j.before, j.after, j.holder_ids,
        case
          when (j.error).code is not null then 'REFUSED'
          when (j.before).id is null then 'CREATED'
          when j.before *<> j.after or not (j.holder_ids @> j.old_holder_ids and j.holder_ids <@ j.old_holder_ids) then 'UPDATED'
          else 'UNCHANGED'
        end, j.error)::app_hidden.judged_card order by j.place)
      from judged j);
  end
  $function$;
comment on function app_hidden.judge_cards(jsonb[]) is 'What would come of each row of a sync of cards as long as no two cards are to have one identifier, and why it would be refused. Writes nothing.';
grant execute on function app_hidden.judge_cards(jsonb[]) to graph_admin;
grant execute on function app_hidden.judge_cards(jsonb[]) to graph_app;
