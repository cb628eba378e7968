--! Previous: sha1:3e70386e7020726ae51d4541ca809a1db1b45941
--! Hash: sha1:d53d60aa5d26a81753dbf4920abb6470913cffd4
--! Message: time zones in any spelling

-- A time zone in any spelling: upper or lower case, spaces or underscores, with or without diacritics, apostrophes and full stops. One that
-- is unknown is refused with the nearest that is known, which a foreign key cannot name.

drop trigger if exists users_time_zone on app_public.users;
drop function if exists app_hidden.users_check_time_zone();
drop function if exists app_hidden.nearest_time_zone(text);
drop function if exists app_hidden.is_time_zone(text);
drop policy if exists select_graph_helper on app_hidden.time_zones;

create or replace function app_hidden.time_zone_key(name text) returns text
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- Without the combining marks of diacritics, and the marks in "Nukuʻalofa" and "St. John’s".
    return lower(translate(regexp_replace(normalize(name, nfd), '[\u0300-\u036f.,''\u2018\u2019\u02bb]', '', 'g'), '_', ' ') collate "C");
  end
  $$;
comment on function app_hidden.time_zone_key(text) is 'By what two spellings of a time zone are the same.';
grant execute on function app_hidden.time_zone_key(text) to graph_admin, graph_helper;

-- The table has about a thousand rows, which no request changes.
-- squawk-ignore adding-field-with-default
alter table app_hidden.time_zones add column if not exists key text not null generated always as (app_hidden.time_zone_key(name)) stored;
-- squawk-ignore require-concurrent-index-creation
create index if not exists time_zones_key_idx on app_hidden.time_zones (key);
comment on table app_hidden.time_zones is 'Accepted time zones: IANA names (Europe/Berlin), their cities alone (Berlin, New York), and other cities of theirs (Beijing).';
comment on column app_hidden.time_zones.key is 'The name as app_hidden.time_zone_key has it.';

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
grant execute on function app_hidden.is_time_zone(text) to graph_admin, graph_helper;

create function app_hidden.nearest_time_zone(name text) returns text
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
  as $$
    -- Sørensen's and Dice's coefficient: the part of the pairs of neighbouring letters that two spellings have in common.
    with pairs as (
      select z.name, z.key, count(*) over (partition by z.name) as number, substr(z.padded, n, 2) as pair
      from (select name, key, '^' || key || '$' as padded from app_hidden.time_zones) as z
      cross join lateral generate_series(1, length(z.padded) - 1) as n
    ),
    given as (
      select substr(g.padded, n, 2) as pair, count(*) over () as number
      from (select '^' || left(app_hidden.time_zone_key(nearest_time_zone.name), 50) || '$' as padded) as g
      cross join lateral generate_series(1, length(g.padded) - 1) as n
    )
    select pairs.name
    from pairs join given using (pair)
    group by pairs.name, pairs.number, given.number
    order by count(*)::numeric / (pairs.number + given.number) desc, pairs.name
    limit 1
  $$;
comment on function app_hidden.nearest_time_zone(text) is 'The time zone whose spelling is nearest; null when none has anything in common with it.';
grant execute on function app_hidden.nearest_time_zone(text) to graph_admin, graph_helper;

create function app_hidden.users_check_time_zone() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- Runs as graph_helper because clients have no right to the list.
    -- Mostly it is spelled as in the list, which is found out in a third of the time.
    if exists (select from app_hidden.time_zones z where z.name = new.time_zone)
      or coalesce(app_hidden.is_time_zone(new.time_zone), true)
    then
      return new;
    end if;
    raise check_violation using
      message = 'A time zone is an IANA name, such as "Europe/Berlin", or the city alone, such as "Berlin"'
        || coalesce('; did you mean "' || app_hidden.nearest_time_zone(new.time_zone) || '"?', ''),
      schema = tg_table_schema, table = tg_table_name, column = 'time_zone';
  end
  $$;
comment on function app_hidden.users_check_time_zone() is 'Refuses a time zone that is unknown, and names the nearest.';

grant create on schema app_hidden to graph_helper;
alter function app_hidden.users_check_time_zone() owner to graph_helper;
revoke create on schema app_hidden from graph_helper;

create policy select_graph_helper on app_hidden.time_zones for select to graph_helper using (true);
comment on policy select_graph_helper on app_hidden.time_zones is 'The trigger that checks a user''s time zone reads the list.';
grant select on app_hidden.time_zones to graph_helper;
comment on policy all_graph_admin on app_hidden.time_zones is 'Administration keeps the list.';

alter table app_public.users drop constraint if exists users_time_zone_fkey;
create trigger users_time_zone before insert or update of time_zone on app_public.users
  for each row execute function app_hidden.users_check_time_zone();
comment on column app_public.users.time_zone is
  E'@argument timeZone\nTime zone: an IANA name, such as `Europe/Berlin`, or the city alone, as it was given.';

delete from audit.accepted where kind = 'foreign_key_without_index' and object = 'users_time_zone_fkey on app_public.users';
insert into audit.accepted (kind, object, who, reason) values
  ('definer', 'app_hidden.users_check_time_zone()', 'nobody', 'A trigger of app_public.users calls it, and clients may not read the list of time zones.')
on conflict on constraint accepted_pkey do update set reason = excluded.reason;
