create table oauth.sessions (
  organization_id uuid default app_hidden.current_organization_id() not null,
  sid text not null,
  sess jsonb not null,
  expire timestamp with time zone not null,
  user_id uuid generated always as ((sess ->> 'userId'::text)::uuid) stored not null,
  constraint sessions_pkey PRIMARY KEY (sid, organization_id),
  constraint sessions_sid_key UNIQUE (sid),
  constraint sessions_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES app_public.users(organization_id, id) ON DELETE CASCADE,
  constraint sessions_sess_length CHECK (octet_length(sess::text) <= 2000),
  constraint sessions_sid_format CHECK (sid ~ '^[A-Za-z0-9_-]{43}$'::text)
)
with (autovacuum_vacuum_scale_factor=0.02);
comment on table oauth.sessions is 'A browser in which one person of one organization has signed in. Deleting it signs the person out.';
comment on column oauth.sessions.sid is 'SHA-256 of the session id, in base64url: nobody who reads it can show the id.';
comment on column oauth.sessions.sess is 'Who signed in, and the attributes of the cookie.';

alter table oauth.sessions enable row level security, force row level security;

CREATE INDEX sessions_expire_idx ON oauth.sessions USING btree (expire);

CREATE INDEX sessions_user_id_idx ON oauth.sessions USING btree (organization_id, user_id);

create policy all_graph_admin on oauth.sessions for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on oauth.sessions is 'Administration signs people out and purges what expired.';

create policy all_graph_oauth on oauth.sessions for all to graph_oauth
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)))
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy all_graph_oauth on oauth.sessions is 'The OAuth server begins, reads and ends what belongs to the organization it works for.';

create policy delete_graph_purger on oauth.sessions for delete to graph_purger
  using (expire <= statement_timestamp());
comment on policy delete_graph_purger on oauth.sessions is 'oauth.purge_sessions deletes expired sessions, and with them the questions that they have open.';

create policy select_graph_purger on oauth.sessions for select to graph_purger
  using (organization_id <> ALL ((( SELECT app_hidden.moving_organization_ids() AS moving_organization_ids))::uuid[]));
comment on policy select_graph_purger on oauth.sessions is 'oauth.purge_sessions looks for expired sessions, but of no organization that is being moved, or has moved.';

create policy update_graph_purger on oauth.sessions for update to graph_purger
  using (true)
  with check (false);
comment on policy update_graph_purger on oauth.sessions is 'oauth.purge_sessions locks sessions; it can change none.';

grant delete, insert, select, update on oauth.sessions to graph_admin;
grant delete, insert (organization_id, sid, sess, expire), select, update (sess, expire) on oauth.sessions to graph_oauth;
grant delete, select (organization_id, sid, expire), update (sid) on oauth.sessions to graph_purger;
