CREATE OR REPLACE FUNCTION app_hidden.judge_users(given jsonb[], source text)
 RETURNS app_hidden.judged_user[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
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
  $function$;
comment on function app_hidden.judge_users(jsonb[],text) is 'What would come of each row of a sync of users by a source as long as none breaks a rule of the table, and why it would be refused. Writes nothing.';
grant execute on function app_hidden.judge_users(jsonb[],text) to graph_admin;
grant execute on function app_hidden.judge_users(jsonb[],text) to graph_app;
