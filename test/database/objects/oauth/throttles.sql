create unlogged table oauth.throttles (
  key text not null,
  points integer not null,
  expire bigint,
  constraint throttles_pkey PRIMARY KEY (key),
  constraint throttles_key_format CHECK (key ~ '^[a-z_]{1,40}:[A-Za-z0-9_-]{43}$'::text)
)
with (fillfactor=50);
comment on table oauth.throttles is 'How often something was tried in the window that ends at `expire`.';
comment on column oauth.throttles.key is 'What is counted, and a keyed hash (HMAC-SHA-256 under SECRET_KEY) of whom: no address, account or client in clear.';
comment on column oauth.throttles.expire is 'Unix time in milliseconds, by the clock of PostgreSQL.';

alter table oauth.throttles enable row level security, force row level security;

create policy all_graph_admin on oauth.throttles for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on oauth.throttles is 'Administration lifts a limit and purges what expired.';

create policy delete_graph_purger on oauth.throttles for delete to graph_purger
  using (expire::numeric <= (EXTRACT(epoch FROM statement_timestamp()) * 1000::numeric));
comment on policy delete_graph_purger on oauth.throttles is 'oauth.purge_throttles deletes counts whose window is over.';

create policy insert_graph_oauth on oauth.throttles for insert to graph_oauth
  with check (true);
comment on policy insert_graph_oauth on oauth.throttles is 'The OAuth server begins a window.';

create policy select_graph_oauth on oauth.throttles for select to graph_oauth
  using (true);
comment on policy select_graph_oauth on oauth.throttles is 'The OAuth server counts tries of whatever organization; a key tells nothing without SECRET_KEY.';

create policy select_graph_purger on oauth.throttles for select to graph_purger
  using (true);
comment on policy select_graph_purger on oauth.throttles is 'oauth.purge_throttles looks for counts whose window is over.';

create policy update_graph_oauth on oauth.throttles for update to graph_oauth
  using (true)
  with check (true);
comment on policy update_graph_oauth on oauth.throttles is 'The OAuth server counts one more.';

grant delete, insert, select, update on oauth.throttles to graph_admin;
grant insert, select, update (points, expire) on oauth.throttles to graph_oauth;
grant delete, select (key, expire) on oauth.throttles to graph_purger;
