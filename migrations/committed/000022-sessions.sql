--! Previous: sha1:0d4a4ffc44b5f6d905406b90fe81b5ed174e9c86
--! Hash: sha1:b2f2437491bede6440aea5ff49bd450a8c6f4094
--! Message: sessions

-- A session is a browser in which a person has signed in, a consent the question what an application may do. It is asked each time.
-- The OAuth server begins, reads and ends those of the organization it works for. No token reads either table.

-- The columns sid, sess and expire are those of connect-pg-simple.
create table oauth.sessions (
  organization_id uuid not null default app_hidden.current_organization_id(),
  sid text not null,
  sess jsonb not null,
  expire timestamptz not null,
  user_id uuid not null generated always as ((sess ->> 'userId')::uuid) stored,
  constraint sessions_pkey primary key (sid, organization_id),
  constraint sessions_sid_key unique (sid),
  constraint sessions_user_id_fkey foreign key (organization_id, user_id) references app_public.users on delete cascade,
  constraint sessions_sid_format check (sid ~ '^[A-Za-z0-9_-]{43}$'),
  constraint sessions_sess_length check (octet_length(sess::text) <= 2000)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index sessions_user_id_idx on oauth.sessions (organization_id, user_id);
create index sessions_expire_idx on oauth.sessions (expire);
comment on table oauth.sessions is 'A browser in which one person of one organization has signed in. Deleting it signs the person out.';
comment on column oauth.sessions.sid is 'SHA-256 of the session id, in base64url: nobody who reads it can show the id.';
comment on column oauth.sessions.sess is 'Who signed in, and the attributes of the cookie.';

create table oauth.consents (
  organization_id uuid not null,
  consent_hash bytea not null,
  sid text not null,
  request_hash bytea not null,
  expires_at timestamptz not null,
  constraint consents_pkey primary key (consent_hash, organization_id),
  constraint consents_sid_fkey foreign key (sid, organization_id) references oauth.sessions on delete cascade,
  constraint consents_consent_hash_length check (octet_length(consent_hash) = 32),
  constraint consents_request_hash_length check (octet_length(request_hash) = 32)
);
create index consents_sid_idx on oauth.consents (sid, organization_id, expires_at);
-- Absent on purpose: an index on expires_at. Questions end with their session, and expired ones when the next is asked.
comment on table oauth.consents is 'A question that a person was shown and has not answered. The answer takes it away, so there is one.';
comment on column oauth.consents.consent_hash is 'SHA-256 of what the form carries.';
comment on column oauth.consents.request_hash is 'SHA-256 of the authorization request that the person was shown.';

alter table oauth.sessions enable row level security, force row level security;
create policy all_graph_admin on oauth.sessions for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on oauth.sessions is 'Administration signs people out and purges what expired.';
create policy all_graph_oauth on oauth.sessions for all to graph_oauth
  using (organization_id = (select app_hidden.current_organization_id()))
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy all_graph_oauth on oauth.sessions is 'The OAuth server begins, reads and ends what belongs to the organization it works for.';
create policy select_graph_purger on oauth.sessions for select to graph_purger
  using (organization_id <> all ((select app_hidden.moving_organization_ids())::uuid[]));
comment on policy select_graph_purger on oauth.sessions is 'oauth.purge_rows looks for expired sessions, but of no organization that is being moved, or has moved.';
create policy delete_graph_purger on oauth.sessions for delete to graph_purger using (expire <= statement_timestamp());
comment on policy delete_graph_purger on oauth.sessions is 'oauth.purge_rows deletes expired sessions, and with them the questions that they have open.';
grant select, insert, update, delete on oauth.sessions to graph_admin;
grant select, insert (organization_id, sid, sess, expire), update (sess, expire), delete on oauth.sessions to graph_oauth;
create policy update_graph_purger on oauth.sessions for update to graph_purger using (true) with check (false);
comment on policy update_graph_purger on oauth.sessions is 'oauth.purge_rows locks sessions; it can change none.';
grant select (organization_id, sid, expire), update (sid), delete on oauth.sessions to graph_purger;

alter table oauth.consents enable row level security, force row level security;
create policy all_graph_admin on oauth.consents for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on oauth.consents is 'Administration signs people out and purges what expired.';
create policy all_graph_oauth on oauth.consents for all to graph_oauth
  using (organization_id = (select app_hidden.current_organization_id()))
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy all_graph_oauth on oauth.consents is 'The OAuth server begins, reads and ends what belongs to the organization it works for.';
grant select, insert, update, delete on oauth.consents to graph_admin;
grant select, insert, delete on oauth.consents to graph_oauth;
-- Absent on purpose: update for graph_oauth on consents. A question is answered once or expires.
