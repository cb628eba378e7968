CREATE OR REPLACE FUNCTION oauth.purge_changes(batch integer)
 RETURNS TABLE(changes integer, months integer, new_months integer)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '100ms'
AS $function$
  declare
    expired regclass;
  begin
    -- Runs as the owner of the history, since only that may make or drop a partition. Who uses one makes this give up, and waits no longer
    -- than it does. One kind of change for each transaction, so that no two locks are held together.
    if not pg_try_advisory_xact_lock(hashtextextended('oauth.purge_changes', 0)) then
      return;
    end if;
    changes = 0;
    months = 0;
    new_months = audit.create_partitions();
    if new_months = 0 then
      select p.partition into expired
      from audit.partitions p
      where p.until <= statement_timestamp() - audit.retention()
      order by p.until
      limit 1;
      if expired is not null then
        execute format('drop table %s', expired);
        months = 1;
      -- The one of many months, from before there were partitions; a policy says which rows.
      elsif to_regclass('audit.changes_before') is not null then
        delete from audit.changes_before
        where ctid = any (array(
          select old.ctid from audit.changes_before old
          where old.occurred_at < date_trunc('month', statement_timestamp() - audit.retention(), 'UTC')
          order by old.occurred_at
          limit purge_changes.batch));
        get diagnostics changes = row_count;
      end if;
    end if;
    return next;
  end
  $function$;
comment on function oauth.purge_changes(integer) is 'Makes the partitions of the coming months; or drops the oldest one, if all of it is older than audit.retention; or deletes at most so many changes from before there were partitions; and says how many. No row when another session is at it; lock_not_available when the history is in use.';
grant execute on function oauth.purge_changes(integer) to graph_admin;
grant execute on function oauth.purge_changes(integer) to graph_oauth;
