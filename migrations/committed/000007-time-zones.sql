--! Previous: sha1:bc8b47b273f56e72566b2068df57ea804140062d
--! Hash: sha1:4fd65d92e34e3e3803f86e2921e5ead9fbe70ea6
--! Message: time zones

-- A time zone is an IANA name or the city alone, in any spelling: upper or lower case, spaces or underscores, with or without diacritics,
-- apostrophes and full stops. An unknown one is rejected with the nearest that is known, which a foreign key cannot name.
--
-- The names are those that PostgreSQL had on the day that this migration ran, and the cities that CLDR has beside them. The list is
-- the same for all organizations, and no request changes it. The rule stands in one place, for the trigger of users and for syncs.

create function app_hidden.time_zone_key(name text) returns text
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- Without the combining marks of diacritics, and the marks in "Nukuʻalofa" and "St. John’s".
    return lower(translate(regexp_replace(normalize(name, nfd), '[\u0300-\u036f.,''\u2018\u2019\u02bb]', '', 'g'), '_', ' ') collate "C");
  end
  $$;
comment on function app_hidden.time_zone_key(text) is 'By what two spellings of a time zone are the same.';

create table app_hidden.time_zones (
  name text not null,
  key text not null generated always as (app_hidden.time_zone_key(name)) stored,
  constraint time_zones_pkey primary key (name)
);
create index time_zones_key_idx on app_hidden.time_zones (key);
comment on table app_hidden.time_zones is 'Accepted time zones: IANA names (Europe/Berlin), their cities alone (Berlin, New York), and other cities of theirs (Beijing).';
comment on column app_hidden.time_zones.key is 'The name as app_hidden.time_zone_key has it.';

alter table app_hidden.time_zones enable row level security, force row level security;
create policy all_graph_admin on app_hidden.time_zones for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_hidden.time_zones is 'Administration keeps the list.';
create policy select_graph_app on app_hidden.time_zones for select to graph_app
  using ((select app_hidden.current_organization_id()) is not null);
comment on policy select_graph_app on app_hidden.time_zones is 'An application reads the list of time zones, which is the same for all organizations.';
grant select, insert, update, delete on app_hidden.time_zones to graph_admin;
grant select on app_hidden.time_zones to graph_app;

insert into app_hidden.time_zones (name)
select name from pg_timezone_names where name !~ '^(posix|right)/' and name not in ('posixrules', 'localtime', 'Factory')
union
select replace(regexp_replace(name, '^.*/', ''), '_', ' ')
from pg_timezone_names
where name ~ '^(Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)/';

insert into app_hidden.time_zones (name)
-- The cities that CLDR has beside those of IANA, in its names for English and for the zones of Windows.
select unnest(array[
  'Abu Dhabi', 'Astana', 'Bahía de Banderas', 'Beijing', 'Bern', 'Brasília', 'Chennai', 'Chokurdakh', 'Dumont d’Urville', 'Edinburgh',
  'Ekaterinburg', 'Georgetown', 'Gorno-Altaysk', 'Guadalajara', 'Hanoi', 'Ho Chi Minh City', 'Islamabad', 'Ittoqqortoormiit', 'Izhevsk',
  'Mumbai', 'New Delhi', 'Nukuʻalofa', 'Osaka', 'Petropavlovsk-Kamchatsky', 'Port Louis', 'Pretoria', 'Quito', 'Salvador', 'Sapporo',
  'Sri Jayawardenepura', 'St. Petersburg', 'Wellington'])
union
select regexp_replace(name, '^St ', 'Saint ') from app_hidden.time_zones where name ~ '^St '
on conflict on constraint time_zones_pkey do nothing;

create function app_hidden.is_time_zone(name text) returns boolean
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$
  begin
    return char_length(is_time_zone.name) <= 100
      and exists (select from app_hidden.time_zones z where z.key = app_hidden.time_zone_key(is_time_zone.name));
  end
  $$;
comment on function app_hidden.is_time_zone(text) is 'Whether a time zone is known, in any spelling of at most 100 characters.';

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

create function app_hidden.nearest_time_zone(name text) returns text
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select nearest from app_hidden.nearest_time_zones(array[nearest_time_zone.name]) $$;
comment on function app_hidden.nearest_time_zone(text) is 'The time zone whose spelling is nearest; null when none has anything in common with it.';

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

grant execute on function app_hidden.time_zone_key(text), app_hidden.is_time_zone(text), app_hidden.nearest_time_zone(text), app_hidden.nearest_time_zones(text[]),
  app_hidden.time_zone_problems(text[])
  to graph_app, graph_admin;

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
