CREATE OR REPLACE FUNCTION oauth.purge_idempotency_keys(batch integer)
 RETURNS TABLE(idempotency_keys integer)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    -- Runs as graph_purger because what has expired belongs to every organization.
    if not pg_try_advisory_xact_lock(hashtextextended('oauth.purge', 0)) then
      return;
    end if;
    delete from app_hidden.idempotency_keys as expired
    using (
      select k.organization_id, k.application_id, k.principal_id, k.role, k.key_hash
      from app_hidden.idempotency_keys k
      where k.expires_at <= statement_timestamp()
      order by k.expires_at
      limit purge_idempotency_keys.batch
    ) as k
    where expired.organization_id = k.organization_id and expired.application_id = k.application_id
      and expired.principal_id = k.principal_id and expired.role = k.role and expired.key_hash = k.key_hash;
    get diagnostics idempotency_keys = row_count;
    delete from app_hidden.idempotency_usage u where u.expires_at <= statement_timestamp();
    return next;
  end
  $function$;
alter function oauth.purge_idempotency_keys(integer) owner to graph_purger;
comment on function oauth.purge_idempotency_keys(integer) is 'Deletes at most so many expired answers and the counts of hours that are over, and says how many answers; no row when another session is at it.';
grant execute on function oauth.purge_idempotency_keys(integer) to graph_admin;
grant execute on function oauth.purge_idempotency_keys(integer) to graph_oauth;
