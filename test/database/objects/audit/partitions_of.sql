CREATE OR REPLACE FUNCTION audit.partitions_of(parent regclass)
 RETURNS TABLE(partition regclass, since timestamp with time zone, until timestamp with time zone)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
 SET "DateStyle" TO 'ISO, MDY'
 SET "IntervalStyle" TO 'postgres'
 SET "TimeZone" TO 'UTC'
 SET bytea_output TO 'hex'
 SET extra_float_digits TO '1'
AS $function$
    select c.oid::regclass, (regexp_match(bound, 'FROM \(''([^'']+)''\)'))[1]::timestamptz, (regexp_match(bound, 'TO \(''([^'']+)''\)'))[1]::timestamptz
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    cross join lateral pg_get_expr(c.relpartbound, c.oid) as bound
    where i.inhparent = parent
  $function$;
comment on function audit.partitions_of(regclass) is 'The partitions of a table that is partitioned by time, and the times that each is for. A bound is null without a limit; the default partition has neither.';
grant execute on function audit.partitions_of(regclass) to graph_admin;
grant execute on function audit.partitions_of(regclass) to graph_auditor;
