--! Previous: sha1:c913e2692796da5805b862d2098fc670ad18f2b0
--! Hash: sha1:f9f1ec63c82eb232620326bb0ee2f625a9f161e0
--! Message: sync of cards

-- The sync of cards: badges, beacons and codes, and who has them.
--
-- As in the other syncs, the function that judges has plans of its own for each call, and the one that writes keeps its plans, since its
-- settings hold for the triggers of what it writes, too. What a reader reads may pass from one card to another within a sync, as addresses
-- of users do.

create type app_public.card_sync_input as (
  external_identifier text, name text, nfc_identifier text, beacon app_public.beacon_input, user_external_identifier text);
comment on type app_public.card_sync_input is
  'A card as a client system has it. What is left out stays as it is; a new card needs `name`, and is an identification code without `nfcIdentifier` and `beacon`. The type of a card never changes.';
comment on column app_public.card_sync_input.external_identifier is E'@notNull\nIdentifier that the client system assigns: 1 to 200 characters, compared exactly. It says which card is meant.';
comment on column app_public.card_sync_input.name is 'Name: 1 to 200 characters.';
comment on column app_public.card_sync_input.nfc_identifier is 'Identifier of the NFC chip: 4, 7 or 10 bytes in hex without separators, unique in the organization. It may be that of another card which gets another one in the same sync.';
comment on column app_public.card_sync_input.beacon is 'What the beacon advertises; unique in the organization. It may be that of another card which gets another one in the same sync.';
comment on column app_public.card_sync_input.user_external_identifier is 'External identifier of the user who has the card, and nobody else; null takes the card from everybody.';

create type app_public.card_sync_result as (
  external_identifier text, outcome app_public.sync_outcome, card app_public.cards, error app_public.sync_error);
comment on type app_public.card_sync_result is 'What came of a row of `cardsSync`.';
comment on column app_public.card_sync_result.external_identifier is E'@notNull\nThe row, by its external identifier.';
comment on column app_public.card_sync_result.outcome is E'@notNull\nWhat came of it.';
comment on column app_public.card_sync_result.card is 'The card after the sync; null when the row was refused, and for a new one of a dry run.';
comment on column app_public.card_sync_result.error is 'Why the row was refused; null unless it was.';

create type app_hidden.judged_card as (
  place int, external_identifier text, changes jsonb, before app_public.cards, after app_public.cards, holder_ids uuid[],
  outcome app_public.sync_outcome, error app_public.sync_error);
comment on type app_hidden.judged_card is
  'A row of a sync: the columns that it gives, the card before and after it, and who then has the card, null when this stays.';

-- Fields of a row are other than those of a mutation: a beacon is one.
create function app_hidden.card_refusal(rule oid) returns app_public.sync_error
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$
    select row (r.code, case when r.argument in ('proximityUuid', 'major', 'minor') then 'beacon' else r.argument end, r.message)::app_public.sync_error
    from app_hidden.refusal_of(card_refusal.rule) as r
  $$;
comment on function app_hidden.card_refusal(oid) is 'What a client reads when a row of a sync of cards breaks a constraint.';

create function app_hidden.judge_cards(given jsonb[]) returns app_hidden.judged_card[]
  language plpgsql volatile set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
  as $$
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
  $$;
comment on function app_hidden.judge_cards(jsonb[]) is
  'What would come of each row of a sync of cards as long as no two cards are to have one identifier, and why it would be refused. Writes nothing.';

create function app_hidden.identity_of(card app_public.cards) returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$
    select coalesce(card.nfc_identifier, format('%s %s %s', card.proximity_uuid, card.major, card.minor) collate "C")
    where card.type <> 'IdentificationCode'
  $$;
comment on function app_hidden.identity_of(app_public.cards) is 'What a reader reads of a badge or beacon, as one text; null for a code.';

create function app_hidden.refuse_cards(judged app_hidden.judged_card[]) returns app_hidden.judged_card[]
  language plpgsql volatile set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
  as $$
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
  $$;
comment on function app_hidden.refuse_cards(app_hidden.judged_card[]) is 'Refuses those rows of a sync of cards that want what another card has or gets. Writes nothing.';

create function app_hidden.write_cards(judged app_hidden.judged_card[]) returns app_public.cards[]
  -- No plan that is kept joins the table: it may have been made when the table was small, and read all cards for each row of the sync.
  language plpgsql volatile set search_path = pg_catalog, pg_temp set plan_cache_mode = auto set enable_seqscan = off
  as $$
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
  $$;
comment on function app_hidden.write_cards(app_hidden.judged_card[]) is
  'Writes those cards of a sync that are new or differ, and who has them. Returns the cards that it has written.';

create function app_public.cards_sync(cards jsonb[], dry_run boolean default false) returns setof app_public.card_sync_result
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    is_dry_run boolean = coalesce(dry_run, false);
    judged app_hidden.judged_card[];
    written app_public.cards[];
    tries int = 0;
  begin
    if cardinality(cards_sync.cards) = 0 then
      raise invalid_parameter_value using message = 'A sync has 1 to 1,000 rows', column = 'cards';
    end if;
    if not is_dry_run then
      perform app_hidden.lock_organization();
    end if;
    loop
      judged = app_hidden.refuse_cards(app_hidden.judge_cards(cards_sync.cards));
      exit when is_dry_run;
      begin
        written = app_hidden.write_cards(judged);
        exit;
      exception
        -- A write without the lock took an identifier, or deleted a card or a holder, since the rows were judged.
        when check_violation or unique_violation or foreign_key_violation then
          tries = tries + 1;
          if tries = 4 then
            -- The sync found that row itself: no argument of the client is wrong, and the client may repeat the request.
            if sqlstate = '23503' then
              raise serialization_failure using message = sqlerrm;
            end if;
            raise;
          end if;
      end;
    end loop;

    return query
      select j.external_identifier, j.outcome, case when j.outcome <> 'REFUSED' then coalesce(w, j.before) end, j.error
      from unnest(judged) as j
      left join unnest(written) as w on w.external_identifier = j.external_identifier
      order by j.place;
  end
  $$;
comment on function app_public.cards_sync(jsonb[], boolean) is
  E'@mutation\n@payloadField results\n@param {CardSyncInput} cards The cards: 1 to 1,000.\n@param dryRun = false Whether nothing is written, and the results say what would come of it.\nMakes cards what a client system has, and gives them to their holders: creates those that are new, changes those that differ and leaves the rest untouched; none is deleted. A row that is refused changes nothing, the others are written, all in one transaction. The results are in the order of the rows. Needs an app token (scope `app`).';

grant execute on function
  app_hidden.card_refusal(oid), app_hidden.judge_cards(jsonb[]), app_hidden.identity_of(app_public.cards),
  app_hidden.refuse_cards(app_hidden.judged_card[]), app_hidden.write_cards(app_hidden.judged_card[]), app_public.cards_sync(jsonb[], boolean)
  to graph_app, graph_admin;
