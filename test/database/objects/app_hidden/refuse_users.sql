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
  $function$;
comment on function app_hidden.refuse_users(app_hidden.judged_user[]) is 'Refuses those rows of a sync of users that break a rule of the table. Writes nothing.';
grant execute on function app_hidden.refuse_users(app_hidden.judged_user[]) to graph_admin;
grant execute on function app_hidden.refuse_users(app_hidden.judged_user[]) to graph_app;
