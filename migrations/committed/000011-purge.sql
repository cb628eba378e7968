--! Previous: sha1:d78d26954641f1807566e84a28f14a988c0fc8fa
--! Hash: sha1:7008739dc700f4b8cd299ce0a515231691a1b642
--! Message: purge

-- What has expired is of no use to anybody: the running server deletes it now and then, whatever organization it belongs to.

drop function if exists oauth.purge(int);
drop policy if exists delete_graph_helper on oauth.sessions;
drop policy if exists select_graph_helper on oauth.sessions;
drop policy if exists delete_graph_helper on oauth.throttles;
drop policy if exists select_graph_helper on oauth.throttles;
drop policy if exists delete_graph_helper on oauth.authorization_codes;
drop policy if exists select_graph_helper on oauth.authorization_codes;
drop policy if exists delete_graph_helper on oauth.refresh_tokens;
drop policy if exists select_graph_helper on oauth.refresh_tokens;
drop policy if exists delete_graph_helper on oauth.access_tokens;
drop policy if exists delete_graph_helper on oauth.grants;
drop policy if exists update_graph_helper on oauth.grants;

-- What may go is said by policies and not by the function, so that a mistake in it deletes nothing that is alive.

create policy delete_graph_helper on oauth.access_tokens for delete to graph_helper using (expires_at <= statement_timestamp());
comment on policy delete_graph_helper on oauth.access_tokens is 'oauth.purge deletes expired tokens.';

create policy select_graph_helper on oauth.refresh_tokens for select to graph_helper using (true);
comment on policy select_graph_helper on oauth.refresh_tokens is 'oauth.purge asks whether a grant has tokens left.';
create policy delete_graph_helper on oauth.refresh_tokens for delete to graph_helper using (expires_at <= statement_timestamp());
comment on policy delete_graph_helper on oauth.refresh_tokens is 'oauth.purge deletes expired tokens; a used one stays until then, to notice its reuse.';

create policy select_graph_helper on oauth.authorization_codes for select to graph_helper using (true);
comment on policy select_graph_helper on oauth.authorization_codes is 'oauth.purge looks for expired codes.';
create policy delete_graph_helper on oauth.authorization_codes for delete to graph_helper
  using (expires_at <= statement_timestamp() - interval '1 day');
comment on policy delete_graph_helper on oauth.authorization_codes is 'oauth.purge deletes codes a day after they expired: until then a replay is noticed.';

create policy update_graph_helper on oauth.grants for update to graph_helper using (true) with check (false);
comment on policy update_graph_helper on oauth.grants is 'oauth.purge locks grants; it can change none.';
create policy delete_graph_helper on oauth.grants for delete to graph_helper
  using (
    not exists (select from oauth.access_tokens t where t.organization_id = grants.organization_id and t.grant_id = grants.id)
    and not exists (select from oauth.refresh_tokens t where t.organization_id = grants.organization_id and t.grant_id = grants.id));
comment on policy delete_graph_helper on oauth.grants is 'oauth.purge deletes grants that have no token left.';

create policy select_graph_helper on oauth.sessions for select to graph_helper using (true);
comment on policy select_graph_helper on oauth.sessions is 'oauth.purge looks for expired sessions.';
create policy delete_graph_helper on oauth.sessions for delete to graph_helper using (expire <= statement_timestamp());
comment on policy delete_graph_helper on oauth.sessions is 'oauth.purge deletes expired sessions, and with them the questions that they have open.';

create policy select_graph_helper on oauth.throttles for select to graph_helper using (true);
comment on policy select_graph_helper on oauth.throttles is 'oauth.purge looks for counts whose window is over.';
create policy delete_graph_helper on oauth.throttles for delete to graph_helper
  using (expire <= extract(epoch from statement_timestamp()) * 1000);
comment on policy delete_graph_helper on oauth.throttles is 'oauth.purge deletes counts whose window is over.';

grant delete on oauth.access_tokens, oauth.grants to graph_helper;
grant update (id) on oauth.grants to graph_helper;
grant select (organization_id, grant_id, token_hash, expires_at), delete on oauth.refresh_tokens to graph_helper;
grant select (organization_id, code_hash, expires_at), delete on oauth.authorization_codes to graph_helper;
grant select (organization_id, sid, expire), delete on oauth.sessions to graph_helper;
grant select (key, expire), delete on oauth.throttles to graph_helper;

create function oauth.purge(batch int)
  returns table (access_tokens int, refresh_tokens int, grants int, authorization_codes int, sessions int, throttles int)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  declare
    organization_ids uuid[];
    grant_ids uuid[];
  begin
    -- Runs as graph_helper because what has expired belongs to every organization.
    if not pg_try_advisory_xact_lock(hashtextextended('oauth.purge', 0)) then
      return;
    end if;

    -- Grants before their tokens, as everybody locks them. One that is in use is left for another time.
    select array_agg(locked.organization_id), array_agg(locked.id) into organization_ids, grant_ids
    from (
      select g.organization_id, g.id
      from oauth.grants g
      where (g.organization_id, g.id) in (
        (select t.organization_id, t.grant_id from oauth.access_tokens t
         where t.expires_at <= statement_timestamp() order by t.expires_at limit purge.batch)
        union
        (select t.organization_id, t.grant_id from oauth.refresh_tokens t
         where t.expires_at <= statement_timestamp() order by t.expires_at limit purge.batch))
      for update skip locked
    ) as locked;

    delete from oauth.access_tokens where token_hash in (
      select t.token_hash
      from unnest(organization_ids, grant_ids) as locked (organization_id, id)
      join oauth.access_tokens t on t.organization_id = locked.organization_id and t.grant_id = locked.id
      where t.expires_at <= statement_timestamp()
      limit purge.batch);
    get diagnostics access_tokens = row_count;

    delete from oauth.refresh_tokens where token_hash in (
      select t.token_hash
      from unnest(organization_ids, grant_ids) as locked (organization_id, id)
      join oauth.refresh_tokens t on t.organization_id = locked.organization_id and t.grant_id = locked.id
      where t.expires_at <= statement_timestamp()
      limit purge.batch);
    get diagnostics refresh_tokens = row_count;

    -- A statement after the lock sees every token that was issued before it; the policy leaves the grants that have one.
    delete from oauth.grants g
    using unnest(organization_ids, grant_ids) as locked (organization_id, id)
    where g.organization_id = locked.organization_id and g.id = locked.id;
    get diagnostics grants = row_count;

    delete from oauth.authorization_codes where code_hash in (
      select c.code_hash from oauth.authorization_codes c
      where c.expires_at <= statement_timestamp() - interval '1 day' order by c.expires_at limit purge.batch);
    get diagnostics authorization_codes = row_count;

    delete from oauth.sessions where sid in (
      select s.sid from oauth.sessions s
      where s.expire <= statement_timestamp() order by s.expire limit purge.batch);
    get diagnostics sessions = row_count;

    delete from oauth.throttles where key in (
      select t.key from oauth.throttles t
      where t.expire <= extract(epoch from statement_timestamp()) * 1000 limit purge.batch);
    get diagnostics throttles = row_count;
    return next;
  end
  $$;
comment on function oauth.purge(int) is 'Deletes at most so many rows of each kind that have expired, and says how many; no row when another session is at it.';
grant create on schema oauth to graph_helper;
alter function oauth.purge(int) owner to graph_helper;
revoke create on schema oauth from graph_helper;
grant execute on function oauth.purge(int) to graph_oauth, graph_admin;
