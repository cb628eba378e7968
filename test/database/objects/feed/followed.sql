CREATE OR REPLACE FUNCTION feed.followed()
 RETURNS SETOF text
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
AS $function$
    -- The first argument of the trigger.
    select distinct split_part(encode(t.tgargs, 'escape'), '\000', 1)
    from pg_trigger t
    where t.tgname = 'follow_insert' and t.tgfoid = 'feed.record_rows'::regproc and not t.tgisinternal
  $function$;
comment on function feed.followed() is 'The tables and views that feed.follow has added to the feed.';
grant execute on function feed.followed() to graph_app;
