--! Previous: sha1:b2f2437491bede6440aea5ff49bd450a8c6f4094
--! Hash: sha1:fcbb6fdea3895f5b8dd8e373fc89f9d767e410c5
--! Message: throttles

-- Throttles: how often something was tried. The counts are in the database and not in a process, so that all servers count together.
-- A key says what is counted and of whom, as a keyed hash: it tells nothing without SECRET_KEY.

-- Unlogged: a count lives for minutes, and a request should not wait for the disk to have counted. After a crash of the
-- database everybody starts at zero. The columns and their order are those of rate-limiter-flexible.
create unlogged table oauth.throttles (
  key text not null,
  points int not null,
  expire bigint,
  constraint throttles_pkey primary key (key),
  constraint throttles_key_format check (key ~ '^[a-z_]{1,40}:[A-Za-z0-9_-]{43}$')
-- Room on each page: a count changes without touching the index.
) with (fillfactor = 50);
comment on table oauth.throttles is 'How often something was tried in the window that ends at `expire`.';
comment on column oauth.throttles.key is 'What is counted, and a keyed hash (HMAC-SHA-256 under SECRET_KEY) of whom: no address, account or client in clear.';
comment on column oauth.throttles.expire is 'Unix time in milliseconds, by the clock of PostgreSQL.';

alter table oauth.throttles enable row level security, force row level security;
create policy all_graph_admin on oauth.throttles for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on oauth.throttles is 'Administration lifts a limit and purges what expired.';
create policy select_graph_oauth on oauth.throttles for select to graph_oauth using (true);
comment on policy select_graph_oauth on oauth.throttles is 'The OAuth server counts tries of whatever organization; a key tells nothing without SECRET_KEY.';
create policy insert_graph_oauth on oauth.throttles for insert to graph_oauth with check (true);
comment on policy insert_graph_oauth on oauth.throttles is 'The OAuth server begins a window.';
create policy update_graph_oauth on oauth.throttles for update to graph_oauth using (true) with check (true);
comment on policy update_graph_oauth on oauth.throttles is 'The OAuth server counts one more.';
create policy select_graph_purger on oauth.throttles for select to graph_purger using (true);
comment on policy select_graph_purger on oauth.throttles is 'oauth.purge_rows looks for counts whose window is over.';
create policy delete_graph_purger on oauth.throttles for delete to graph_purger
  using (expire <= extract(epoch from statement_timestamp()) * 1000);
comment on policy delete_graph_purger on oauth.throttles is 'oauth.purge_rows deletes counts whose window is over.';
grant select, insert, update, delete on oauth.throttles to graph_admin;
grant select, insert, update (points, expire) on oauth.throttles to graph_oauth;
-- Absent on purpose: delete for graph_oauth. A window ends by itself.
grant select (key, expire), delete on oauth.throttles to graph_purger;
