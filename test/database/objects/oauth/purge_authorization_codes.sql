CREATE OR REPLACE FUNCTION oauth.purge_authorization_codes(batch integer)
 RETURNS TABLE(authorization_codes integer)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    -- Runs as graph_purger because what has expired belongs to every organization.
    if not pg_try_advisory_xact_lock(hashtextextended('oauth.purge', 0)) then
      return;
    end if;
    delete from oauth.authorization_codes where code_hash = any (array(
      select c.code_hash from oauth.authorization_codes c
      where c.expires_at <= statement_timestamp() - interval '1 day' order by c.expires_at limit purge_authorization_codes.batch
      for update skip locked));
    get diagnostics authorization_codes = row_count;
    return next;
  end
  $function$;
alter function oauth.purge_authorization_codes(integer) owner to graph_purger;
comment on function oauth.purge_authorization_codes(integer) is 'Deletes at most so many codes that expired a day ago, and says how many; no row when another session is at it.';
grant execute on function oauth.purge_authorization_codes(integer) to graph_admin;
grant execute on function oauth.purge_authorization_codes(integer) to graph_oauth;
