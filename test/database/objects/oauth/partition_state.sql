CREATE OR REPLACE FUNCTION oauth.partition_state()
 RETURNS TABLE(relation text, since timestamp with time zone, until timestamp with time zone, in_default bigint)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    -- Runs as the owner because no other role reads a partition by its name. It tells how many rows, and none of them.
    return query
      with bounds as materialized (
        select parent.relation, coalesce(p.since, '-infinity') as since, p.until
        from (values ('audit.changes'), ('feed.changes')) as parent (relation)
        cross join lateral audit.partitions_of(parent.relation::regclass) as p
        where p.until is not null
      )
      select
        b.relation,
        min(b.since),
        -- Where the partitions that follow each other from now on end.
        case
          when bool_or(statement_timestamp() >= b.since and statement_timestamp() < b.until)
            then min(b.until) filter (
              where b.until > statement_timestamp() and not exists (select from bounds next where next.relation = b.relation and next.since = b.until))
          else statement_timestamp()
        end,
        case b.relation when 'audit.changes' then (select count(*) from audit.changes_default) else (select count(*) from feed.changes_default) end
      from bounds b
      group by b.relation;
  end
  $function$;
comment on function oauth.partition_state() is 'Of the history and the feed: since when there are partitions, until when without a gap from now on, and how many rows are in the default one, which a purge moves.';
grant execute on function oauth.partition_state() to graph_admin;
grant execute on function oauth.partition_state() to graph_auditor;
grant execute on function oauth.partition_state() to graph_oauth;
