--! Previous: sha1:a762eb25ff1a1c9a8177f199f729e32d12ef1a87
--! Hash: sha1:40ceb4a3d96de0138cfe63aae6bdbeaa0b5e9ad2
--! Message: time zones of many users

-- Enter migration here: docs/changing-the-schema.md. The present text of a policy is in test/database/policies.txt,
-- that of a function in the last file of migrations/committed that makes it (psql: \sf app_public.user_create).


-- The rule about time zones in one place, for the trigger and for what judges many rows at once.

drop policy if exists select_graph_app on app_hidden.time_zones;
drop trigger if exists users_time_zone on app_public.users;
drop function if exists app_hidden.users_check_time_zone();
drop function if exists app_hidden.time_zone_problems(text[]);
drop function if exists app_hidden.nearest_time_zones(text[]);
drop policy if exists select_graph_helper on app_hidden.time_zones;
revoke all on app_hidden.time_zones from graph_helper;

create function app_hidden.nearest_time_zones(names text[]) returns table (name text, nearest text)
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$
    -- Sørensen's and Dice's coefficient: the part of the pairs of neighbouring letters that two spellings have in common.
    with pairs as (
      select z.name, count(*) over (partition by z.name) as number, substr(z.padded, n, 2) as pair
      from (select name, '^' || key || '$' as padded from app_hidden.time_zones) as z
      cross join lateral generate_series(1, length(z.padded) - 1) as n
    ),
    given as (
      select g.name, substr(g.padded, n, 2) as pair, count(*) over (partition by g.name) as number
      from (select name, '^' || left(app_hidden.time_zone_key(name), 50) || '$' as padded from unnest(names) as name) as g
      cross join lateral generate_series(1, length(g.padded) - 1) as n
    )
    select distinct on (given.name) given.name, pairs.name
    from pairs join given using (pair)
    group by given.name, given.number, pairs.name, pairs.number
    order by given.name, count(*)::numeric / (pairs.number + given.number) desc, pairs.name
  $$;
comment on function app_hidden.nearest_time_zones(text[]) is 'For each the time zone whose spelling is nearest; none for one that has nothing in common with any.';

create or replace function app_hidden.nearest_time_zone(name text) returns text
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select nearest from app_hidden.nearest_time_zones(array[nearest_time_zone.name]) $$;

create function app_hidden.time_zone_problems(names text[]) returns table (name text, problem text)
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$
  declare
    unknown text[] = array(
      select given from unnest(names) as given
      where not exists (select from app_hidden.time_zones z where z.name = given) and not app_hidden.is_time_zone(given));
  begin
    if unknown = '{}' then
      return;
    end if;
    return query
      select
        given, 'A time zone is an IANA name, such as "Europe/Berlin", or the city alone, such as "Berlin"'
          || coalesce('; did you mean "' || n.nearest || '"?', '.')
      from unnest(unknown) as given
      left join app_hidden.nearest_time_zones(unknown) as n on n.name = given;
  end
  $$;
comment on function app_hidden.time_zone_problems(text[]) is 'Those of some time zones that are unknown in any spelling: why they are refused, with the nearest that is known.';

create function app_hidden.users_check_time_zone() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
  as $$
  declare
    problem text;
  begin
    -- Mostly it is spelled as in the list, which is found out in a third of the time.
    if tg_op = 'UPDATE' and new.time_zone = old.time_zone or exists (select from app_hidden.time_zones z where z.name = new.time_zone) then
      return new;
    end if;
    problem = (select z.problem from app_hidden.time_zone_problems(array[new.time_zone]) as z);
    if problem is not null then
      raise check_violation using message = problem, schema = tg_table_schema, table = tg_table_name, column = 'time_zone';
    end if;
    return new;
  end
  $$;
comment on function app_hidden.users_check_time_zone() is 'Refuses a time zone that is unknown, and names the nearest.';
create trigger users_time_zone before insert or update of time_zone on app_public.users
  for each row execute function app_hidden.users_check_time_zone();
delete from audit.accepted where kind = 'definer' and object = 'app_hidden.users_check_time_zone()';

create policy select_graph_app on app_hidden.time_zones for select to graph_app
  using ((select app_hidden.current_organization_id()) is not null);
comment on policy select_graph_app on app_hidden.time_zones is 'An application reads the list of time zones, which is the same for all organizations.';
grant select on app_hidden.time_zones to graph_app;
grant execute on function app_hidden.time_zone_key(text), app_hidden.is_time_zone(text), app_hidden.nearest_time_zone(text), app_hidden.nearest_time_zones(text[]),
  app_hidden.time_zone_problems(text[])
  to graph_app, graph_admin;
revoke execute on function app_hidden.time_zone_key(text), app_hidden.is_time_zone(text), app_hidden.nearest_time_zone(text) from graph_helper;
