--! Previous: sha1:7810014312edfe6ff15b82325af62282f581ad86
--! Hash: sha1:451a7fb586d25543d54ec22bcd56a160693b6d9f
--! Message: sync of users

-- The sync of users costs little more than the statement that writes them. PostgreSQL checks the rules of the table as of any write; only
-- when a row breaks one does the sync find out which. Only functions that read have plans that are made anew for each call: such a setting
-- holds for the triggers of what a function writes, too.
--
-- New users get their keys in the order of the rows. So pages, which are in the order of keys, show them as they came.

create type app_public.user_sync_input as (
  external_identifier text, full_name text, email text, locale text, time_zone text, external_authentication_token text, accessible_units text[]);
comment on type app_public.user_sync_input is 'A user as a client system has it. What is left out stays as it is; a new user needs `fullName` and `email`.';
comment on column app_public.user_sync_input.external_identifier is E'@notNull\nIdentifier that the client system assigns: 1 to 200 characters, compared exactly. It says which user is meant.';
comment on column app_public.user_sync_input.full_name is 'Full name: 1 to 200 characters.';
comment on column app_public.user_sync_input.email is 'E-mail address: unique in the organization, whatever its case.';
comment on column app_public.user_sync_input.locale is 'BCP 47 language tag, such as `de` or `de-AT`; `en` for a new user.';
comment on column app_public.user_sync_input.time_zone is 'IANA name, such as `Europe/Berlin`, or the city alone; `UTC` for a new user.';
comment on column app_public.user_sync_input.external_authentication_token is 'Token used for external authentication: unique in the organization, 16 to 500 characters; null clears it.';
comment on column app_public.user_sync_input.accessible_units is
  'External identifiers of units. The grants of the `source` are then of these, each with all below it and without a time, and of no others; an empty list or null withdraws them all. Grants of other sources, and without a `source` those of any, stay.';

create type app_public.user_sync_result as (
  external_identifier text, outcome app_public.sync_outcome, "user" app_public.users, error app_public.sync_error);
comment on type app_public.user_sync_result is 'What came of a row of `usersSync`.';
comment on column app_public.user_sync_result.external_identifier is E'@notNull\nThe row, by its external identifier.';
comment on column app_public.user_sync_result.outcome is E'@notNull\nWhat came of it.';
comment on column app_public.user_sync_result."user" is 'The user after the sync; null when the row was refused, and for a new one of a dry run.';
comment on column app_public.user_sync_result.error is 'Why the row was refused; null unless it was.';

create type app_hidden.judged_user as (
  place int, external_identifier text, changes jsonb, before app_public.users, after app_public.users, unit_ids uuid[],
  outcome app_public.sync_outcome, error app_public.sync_error);
comment on type app_hidden.judged_user is
  'A row of a sync: the columns that it gives, the user before and after it, and the units that the user may then access, null when these stay.';

-- The id of a new user is made by the statement that writes it: to make it for each row, as text within JSON, took half of what judging takes.
-- No plan that is kept reads all users for each row.
--
-- The external authentication token comes as the text of an object: its ciphertext for the user `userId`, its hash, that under the key before (all in
-- hex), or its `problem`.
create function app_hidden.judge_users(given jsonb[], source text) returns app_hidden.judged_user[]
  language plpgsql volatile set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
  as $$
  declare
    organization uuid = app_hidden.current_organization_id();
    -- Rows by an index, in statements of their own, planned anew as the table grows: else all users of the organization might be read.
    known app_public.users[] = array(
      select u from app_public.users u
      where u.organization_id = organization
        and u.external_identifier = any (array(select g ->> 'external_identifier' from unnest(judge_users.given) as g)));
    new_user app_public.users;
  begin
    new_user.organization_id = organization;
    -- A placeholder: a new user gets an id when it is written, or has that which its token is sealed for.
    new_user.id = app_hidden.uuid_v7();
    new_user.locale = 'en';
    new_user.time_zone = 'UTC';
    return (
      with given as materialized (
        select
          place, g ->> 'external_identifier' as external_identifier, g -> 'accessible_units' as units,
          case when g ? 'external_authentication_token' then coalesce((g ->> 'external_authentication_token')::jsonb, 'null') end as token,
          case when g ->> 'full_name' <> full_name or g ->> 'email' <> email
            then g || jsonb_strip_nulls(jsonb_build_object('full_name', full_name, 'email', email))
            else g
          end as columns,
          row_number() over (partition by g ->> 'external_identifier' collate "C" order by place) as number
        from unnest(judge_users.given) with ordinality as rows (g, place)
        cross join lateral (
          select btrim(g ->> 'full_name', app_hidden.white_space()) as full_name, btrim(g ->> 'email', app_hidden.white_space()) as email
        ) as trimmed
      ),
      units as materialized (
        select named.name, u.id
        from (select distinct jsonb_array_elements_text(g.units) from given g where jsonb_typeof(g.units) = 'array') as named (name)
        left join app_public.units u on u.organization_id = organization and u.external_identifier = named.name
      ),
      wanted_access as materialized (
        select g.place, array_agg(distinct u.id) as unit_ids, bool_or(u.id is null) as has_unknown
        from given g
        cross join lateral jsonb_array_elements_text(g.units) as named (name)
        join units u using (name)
        where jsonb_typeof(g.units) = 'array'
        group by g.place
      ),
      access as materialized (
        -- Those of this source. One that begins or ends is none that a sync makes, and is null here.
        select a.user_id, array_agg(case when num_nonnulls(a.valid_from, a.valid_until) = 0 then a.unit_id end order by a.unit_id) as unit_ids
        from app_hidden.unit_access a
        where a.organization_id = organization and a.source is not distinct from judge_users.source
          and a.user_id = any (array(
            select u.id from given g join unnest(known) as u on u.external_identifier = g.external_identifier where g.units is not null))
        group by a.user_id
      ),
      compared as materialized (
        select
          g.place, g.external_identifier, g.token, g.number, u as before,
          case when u.id is null then jsonb_strip_nulls(g.columns) else g.columns end
            || case
              when g.token is null or g.token ? 'problem' or u.id is null and g.token = 'null'
                or encode(u.external_authentication_token_hash, 'hex') in (g.token ->> 'hash', g.token ->> 'previousHash') then '{}'
              else jsonb_build_object(
                'id', coalesce(u.id, (g.token ->> 'userId')::uuid),
                'external_authentication_token_ciphertext', e'\\x' || (g.token ->> 'ciphertext'),
                'external_authentication_token_hash', e'\\x' || (g.token ->> 'hash'),
                'previous_hash', e'\\x' || (g.token ->> 'previousHash'))
            end as changes,
          case when g.units is not null then coalesce(w.unit_ids, '{}') end as unit_ids, w.has_unknown,
          coalesce(a.unit_ids, '{}') as old_unit_ids
        from given g
        left join unnest(known) as u on u.external_identifier = g.external_identifier
        left join wanted_access w on w.place = g.place
        left join access a on a.user_id = u.id
      ),
      wanted as materialized (
        select c.*, jsonb_populate_record(case when (c.before).id is null then new_user else c.before end, c.changes) as after
        from compared c
      ),
      judged as (
        select
          w.*,
          case
            when w.number > 1 then row ('CONFLICT', 'externalIdentifier', 'An earlier row has this external identifier.')::app_public.sync_error
            when missing.argument is not null and (w.before).id is null
              then row ('BAD_USER_INPUT', missing.argument, 'A new user needs ' || missing.argument || '.')::app_public.sync_error
            when missing.argument is not null
              then row ('BAD_USER_INPUT', missing.argument, missing.argument || ' cannot be null; leave it out to keep its value.')::app_public.sync_error
            when w.token ? 'problem'
              then row ('BAD_USER_INPUT', 'externalAuthenticationToken', w.token ->> 'problem')::app_public.sync_error
            when w.has_unknown then row ('NOT_FOUND', 'accessibleUnits', 'There is no such unit.')::app_public.sync_error
            when w.changes ->> 'external_authentication_token_hash' is not null and (w.token ->> 'userId')::uuid is distinct from (w.after).id
              then row ('UNAVAILABLE', null, 'The user was created or deleted meanwhile; send the row again.')::app_public.sync_error
          end as error
        from wanted w
        cross join lateral (
          select case
            when (w.after).full_name is null then 'fullName'
            when (w.after).email is null then 'email'
            when (w.after).locale is null then 'locale'
            when (w.after).time_zone is null then 'timeZone'
          end as argument
        ) as missing
      )
      select array_agg(row (
        j.place, j.external_identifier, j.changes, j.before, j.after, j.unit_ids,
        case
          when (j.error).code is not null then 'REFUSED'
          when (j.before).id is null then 'CREATED'
          when j.before *<> j.after or j.unit_ids <> j.old_unit_ids then 'UPDATED'
          else 'UNCHANGED'
        end, j.error)::app_hidden.judged_user)
      from judged j);
  end
  $$;
comment on function app_hidden.judge_users(jsonb[], text) is
  'What would come of each row of a sync of users by a source as long as none breaks a rule of the table, and why it would be refused. Writes nothing.';

-- A row wants its new value; of a token the hash under the key before, too, since no other user may have the same token.
create function app_hidden.unique_values(judged app_hidden.judged_user[])
  returns table (place int, known_id uuid, id uuid, rule name, wants text[])
  language sql stable set search_path = pg_catalog, pg_temp
  as $$
    select j.place, (j.before).id, (j.after).id, of_row.rule, of_row.wants
    from unnest(judged) as j
    cross join lateral (
      select 'users_email_key'::name as rule, array[app_hidden.lowercase((j.after).email)] as wants
      where (j.before).email_lowercase is distinct from app_hidden.lowercase((j.after).email)
      union all
      select
        'users_external_authentication_token_hash_key',
        array[encode((j.after).external_authentication_token_hash, 'hex'), encode((j.changes ->> 'previous_hash')::bytea, 'hex')]
      where (j.after).external_authentication_token_hash is distinct from (j.before).external_authentication_token_hash
    ) as of_row
    where j.outcome <> 'REFUSED'
  $$;
comment on function app_hidden.unique_values(app_hidden.judged_user[]) is
  'The addresses and hashes of tokens that the rows of a sync change, by the unique constraint. Rows that are refused change none.';

create function app_hidden.refuse_users(judged app_hidden.judged_user[]) returns app_hidden.judged_user[]
  language plpgsql volatile set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
  as $$
  declare
    organization uuid = app_hidden.current_organization_id();
    counts_duplicates boolean;
    holders app_public.users[];
    wish record;
    taken text[] = '{}';
    late_places int[] = '{}';
    late_rules name[] = '{}';
  begin
    with zones as materialized (
      select z.name as time_zone, z.problem
      from app_hidden.time_zone_problems(array(
        select distinct (j.after).time_zone from unnest(judged) as j
        where j.outcome <> 'REFUSED' and (j.before).time_zone is distinct from (j.after).time_zone
      )) as z
    ),
    checks as (
      select n as place, rule
      from unnest(app_hidden.broken_checks(array(select j.after from unnest(judged) as j order by j.place))) with ordinality as broken (rule, n)
    )
    select array_agg(row (
      j.place, j.external_identifier, j.changes, j.before, j.after, j.unit_ids, case when (e.error).code is null then j.outcome else 'REFUSED' end,
      e.error)::app_hidden.judged_user order by j.place) into judged
    from unnest(judged) as j
    join checks using (place)
    left join zones on zones.time_zone = (j.after).time_zone and (j.before).time_zone is distinct from (j.after).time_zone
    cross join lateral (
      select case
        when j.outcome = 'REFUSED' then j.error
        when zones.problem is not null then row ('BAD_USER_INPUT', 'timeZone', zones.problem)::app_public.sync_error
        when checks.rule is not null then app_hidden.refusal_of(checks.rule)
      end as error
    ) as e;

    holders = array(
      select u from app_public.users u
      where u.organization_id = organization
        and u.email_lowercase = any (array(
          select unnest(v.wants) from app_hidden.unique_values(judged) as v where v.rule = 'users_email_key')))
      || array(
      select u from app_public.users u
      where u.organization_id = organization
        and u.external_authentication_token_hash = any (array(
          select decode(unnest(v.wants), 'hex') from app_hidden.unique_values(judged) as v where v.rule = 'users_external_authentication_token_hash_key')));
    -- What is unique may change hands within a sync. A user who does not give it up, since the row does not say so or is refused, keeps it.
    -- Then, row by row, one is refused that wants what an earlier one gets.
    foreach counts_duplicates in array '{false,true}'::boolean[] loop
      if counts_duplicates then
        for wish in
          select w.place, array_agg(format('%s %s', w.rule, w.value) order by w.rule) as keys
          from (
            select v.place, v.rule, v.wants[1] as value, count(*) over (partition by v.rule, v.wants[1]) as wishes
            from app_hidden.unique_values(judged) as v
            where v.wants[1] is not null
          ) as w
          where w.wishes > 1
          group by w.place
          order by w.place
        loop
          if wish.keys && taken then
            late_places = late_places || wish.place;
            late_rules = late_rules || (select split_part(min(key), ' ', 1)::name from unnest(wish.keys) as key where key = any (taken));
          else
            taken = taken || wish.keys;
          end if;
        end loop;
      end if;
      with recursive wanted as materialized (
        select * from app_hidden.unique_values(judged)
      ),
      held as materialized (
        select w.place, w.rule, giver.place as holder
        from unnest(holders) as u
        cross join lateral (
          values ('users_email_key'::name, u.email_lowercase),
            ('users_external_authentication_token_hash_key', encode(u.external_authentication_token_hash, 'hex'))
        ) as has (rule, value)
        join (select place, id, rule, unnest(wants) as value from wanted) as w on w.rule = has.rule and w.value = has.value and w.id <> u.id
        left join wanted giver on giver.known_id = u.id and giver.rule = has.rule
      ),
      refused (place, rule) as (
        (
          select place, rule from held where holder is null
          union all
          select * from unnest(late_places, late_rules)
        )
        union
        select held.place, held.rule from held join refused on refused.place = held.holder
      ),
      rules as (
        select r.place, min(r.rule) as rule from refused r group by r.place
      )
      select array_agg(
        case
          when r.rule is null then j
          else row (
            j.place, j.external_identifier, j.changes, j.before, j.after, j.unit_ids, 'REFUSED',
            app_hidden.refusal_of((select oid from pg_constraint where conrelid = 'app_public.users'::regclass and conname = r.rule))
          )::app_hidden.judged_user
        end order by j.place) into judged
      from unnest(judged) as j
      left join rules r on r.place = j.place;
    end loop;
    return judged;
  end
  $$;
comment on function app_hidden.refuse_users(app_hidden.judged_user[]) is 'Refuses those rows of a sync of users that break a rule of the table. Writes nothing.';

create function app_hidden.write_users(judged app_hidden.judged_user[], source text) returns app_public.users[]
  -- The triggers of the rows keep their plans, and so do these statements, which may have been planned when the table was small. So none of them joins
  -- it: a join would read all users of the organization for each row of the sync, or all rows of the sync for each user.
  language plpgsql volatile set search_path = pg_catalog, pg_temp set plan_cache_mode = auto set enable_seqscan = off
  as $$
  declare
    organization uuid = app_hidden.current_organization_id();
    known_ids uuid[] = array(select (before).id from unnest(judged) where outcome = 'UPDATED');
    changes_by_id jsonb;
    changed app_public.users[];
    created app_public.users[];
    unit_ids_by_id jsonb;
    locked int;
  begin
    if known_ids <> '{}' then
      perform from app_public.users u where u.organization_id = organization and u.id = any (known_ids) order by u.id for no key update;
      get diagnostics locked = row_count;
      if locked < cardinality(known_ids) then
        raise foreign_key_violation using message = 'A user was deleted meanwhile.';
      end if;

      -- One statement, so that users may exchange addresses and tokens; before the new ones, who may get what these give up.
      changes_by_id = (
        select jsonb_object_agg((before).id, changes) from unnest(judged) where outcome = 'UPDATED' and before *<> after);
      with changed as (
        update app_public.users u set (
          full_name, email, locale, time_zone, external_authentication_token_ciphertext, external_authentication_token_hash
        ) = (
          -- Of the row as it is by now: what is not given stays as another session may have changed it meanwhile.
          select c.full_name, c.email, c.locale, c.time_zone, c.external_authentication_token_ciphertext, c.external_authentication_token_hash
          from jsonb_populate_record(u, changes_by_id -> u.id::text) as c
        )
        where u.organization_id = organization and u.id = any (known_ids) and changes_by_id ? u.id::text
        returning u
      )
      select array_agg(u) into changed from changed;
    end if;

    with created as (
      insert into app_public.users as u (
        organization_id, id, external_identifier, full_name, email, locale, time_zone,
        external_authentication_token_ciphertext, external_authentication_token_hash)
      select
        organization, coalesce((changes ->> 'id')::uuid, app_hidden.uuid_v7()), (after).external_identifier, (after).full_name, (after).email,
        (after).locale, (after).time_zone, (after).external_authentication_token_ciphertext, (after).external_authentication_token_hash
      from unnest(judged)
      where outcome = 'CREATED'
      order by place
      returning u
    )
    select array_agg(u) into created from created;

    if exists (select from unnest(judged) where outcome in ('CREATED', 'UPDATED') and unit_ids is not null) then
      unit_ids_by_id = (select jsonb_object_agg((before).id, to_jsonb(unit_ids)) from unnest(judged) where outcome = 'UPDATED' and unit_ids is not null);
      delete from app_hidden.unit_access a
      where a.organization_id = organization and a.user_id = any (known_ids) and a.source is not distinct from write_users.source
        and not unit_ids_by_id -> a.user_id::text ? a.unit_id::text;

      update app_hidden.unit_access a set valid_from = null, valid_until = null
      where a.organization_id = organization and a.user_id = any (known_ids) and a.source is not distinct from write_users.source
        and num_nonnulls(a.valid_from, a.valid_until) > 0 and unit_ids_by_id ? a.user_id::text;

      insert into app_hidden.unit_access (organization_id, user_id, unit_id, source)
      select organization, coalesce((j.before).id, c.id), granted.unit_id, write_users.source
      from unnest(judged) as j
      left join unnest(created) as c on c.external_identifier = j.external_identifier
      cross join lateral unnest(j.unit_ids) as granted (unit_id)
      where j.outcome in ('CREATED', 'UPDATED')
      on conflict do nothing;
    end if;
    return changed || created;
  end
  $$;
comment on function app_hidden.write_users(app_hidden.judged_user[], text) is
  'Writes those users of a sync that are new or differ, and their grants of this source. Returns the users that it has written.';

create function app_public.users_sync(users jsonb[], dry_run boolean default false, source text default null) returns setof app_public.user_sync_result
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    is_dry_run boolean = coalesce(dry_run, false);
    judged app_hidden.judged_user[];
    written app_public.users[];
    tries int = 0;
  begin
    if cardinality(users_sync.users) = 0 then
      raise invalid_parameter_value using message = 'A sync has 1 to 1,000 rows', column = 'users';
    end if;
    -- As the constraint of the table has it, which no row of the sync may ask.
    if char_length(source) not between 1 and 200 then
      raise invalid_parameter_value using message = 'A source has 1 to 200 characters.', column = 'source';
    end if;
    if not is_dry_run then
      perform app_hidden.lock_units();
    end if;
    loop
      judged = app_hidden.judge_users(users_sync.users, users_sync.source);
      -- No index knows a token by its hash under the key before.
      if is_dry_run or tries > 0 or exists (select from unnest(judged) as j where j.changes ->> 'previous_hash' is not null) then
        judged = app_hidden.refuse_users(judged);
      end if;
      exit when is_dry_run;
      begin
        written = app_hidden.write_users(judged, users_sync.source);
        exit;
      exception
        -- A row breaks a rule; or a write without the lock took an address, or deleted a user, since the rows were judged.
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
comment on function app_public.users_sync(jsonb[], boolean, text) is
  E'@mutation\n@payloadField results\n@param {UserSyncInput} users The users: 1 to 1,000.\n@param dryRun = false Whether nothing is written, and the results say what would come of it.\n@param source The system whose grants `accessibleUnits` are: 1 to 200 characters, compared exactly. Without one they are those given by hand.\nMakes users what a client system has: creates those that are new, changes those that differ and leaves the rest untouched; none is deleted. A row that is refused changes nothing, the others are written, all in one transaction. The results are in the order of the rows. Needs an app token (scope `app`).';

grant execute on function
  app_hidden.judge_users(jsonb[], text), app_hidden.unique_values(app_hidden.judged_user[]), app_hidden.refuse_users(app_hidden.judged_user[]),
  app_hidden.write_users(app_hidden.judged_user[], text), app_public.users_sync(jsonb[], boolean, text)
  to graph_app, graph_admin;
