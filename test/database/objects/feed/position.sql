CREATE OR REPLACE FUNCTION feed."position"()
 RETURNS TABLE(origin bigint, horizon xid8, at timestamp with time zone, oldest timestamp with time zone)
 LANGUAGE sql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    -- The timeline changes when a backup is brought up to a time, which undoes what readers may have seen.
    -- Its file of the WAL has it at once, and pg_control_checkpoint() up to a minute after a promotion.
    select
      hashint8extended(
        feed.origin(),
        case when pg_is_in_recovery() then (select timeline_id from pg_control_checkpoint())
          else ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int end::bigint),
      pg_snapshot_xmin(pg_current_snapshot()), statement_timestamp(), greatest(feed.oldest(), app_hidden.arrived_at())
  $function$;
comment on function feed."position"() is 'The end of the feed: what is below this horizon is certain. And the time of the oldest cursor that is good: none of before the organization came here.';
grant execute on function feed."position"() to graph_admin;
grant execute on function feed."position"() to graph_app;
grant execute on function feed."position"() to graph_worker;
