CREATE OR REPLACE FUNCTION app_hidden.refuse_users(judged app_hidden.judged_user[])
 RETURNS app_hidden.judged_user[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
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
          select app_hidden.lowercase((j.after).email) from unnest(judged) as j
          where j.outcome <> 'REFUSED' and (j.before).email_lowercase is distinct from app_hidden.lowercase((j.after).email))))
      || array(
      select u from app_public.users u
      where u.organization_id = organization
        and u.external_authentication_token_hash = any (array(
          select unnest(array[(j.after).external_authentication_token_hash, (j.changes ->> 'previous_hash')::bytea]) from unnest(judged) as j
          where j.outcome <> 'REFUSED' and j.changes ->> 'external_authentication_token_hash' is not null)));
    -- What is unique may change hands within a sync. A user who does not give it up, since the row does not say so or is refused, keeps it.
    -- Then, row by row, one is refused that wants what an earlier one gets.
    foreach counts_duplicates in array '{false,true}'::boolean[] loop
      if counts_duplicates then
        for wish in
          select w.place, array_agg(format('%s %s', w.rule, w.value) order by w.rule) as keys
          from (
            select j.place, of_row.rule, of_row.value, count(*) over (partition by of_row.rule, of_row.value) as wishes
            from unnest(judged) as j
            cross join lateral (
              select 'users_email_key' as rule, app_hidden.lowercase((j.after).email) as value
              where (j.before).email_lowercase is distinct from app_hidden.lowercase((j.after).email)
              union all
              select 'users_external_authentication_token_hash_key', encode((j.after).external_authentication_token_hash, 'hex')
              where (j.after).external_authentication_token_hash is distinct from (j.before).external_authentication_token_hash
            ) as of_row
            where j.outcome <> 'REFUSED' and of_row.value is not null
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
      with recursive live as materialized (
        select j.place, (j.before).id as known_id, (j.after).id, app_hidden.lowercase((j.after).email) as email, (j.after).external_authentication_token_hash as hash,
          (j.changes ->> 'previous_hash')::bytea as previous_hash,
          (j.before).email_lowercase is distinct from app_hidden.lowercase((j.after).email) as changes_email,
          (j.before).external_authentication_token_hash is distinct from (j.after).external_authentication_token_hash as changes_hash
        from unnest(judged) as j
        where j.outcome <> 'REFUSED'
      ),
      held as materialized (
        select l.place, 'users_email_key'::name as rule, h.place as holder
        from live l
        join unnest(holders) as u on u.email_lowercase = l.email and u.id <> l.id
        left join live h on h.known_id = u.id and h.changes_email
        where l.changes_email
        union all
        select l.place, 'users_external_authentication_token_hash_key', h.place
        from live l
        cross join lateral unnest(array[l.hash, l.previous_hash]) as wanted (hash)
        join unnest(holders) as u on u.external_authentication_token_hash = wanted.hash and u.id <> l.id
        left join live h on h.known_id = u.id and h.changes_hash
        where l.changes_hash
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
  $function$;
comment on function app_hidden.refuse_users(app_hidden.judged_user[]) is 'Refuses those rows of a sync of users that break a rule of the table. Writes nothing.';
grant execute on function app_hidden.refuse_users(app_hidden.judged_user[]) to graph_admin;
grant execute on function app_hidden.refuse_users(app_hidden.judged_user[]) to graph_app;
