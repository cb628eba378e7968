create table oauth.consents (
  organization_id uuid not null,
  consent_hash bytea not null,
  sid text not null,
  request_hash bytea not null,
  expires_at timestamp with time zone not null,
  constraint consents_pkey PRIMARY KEY (consent_hash, organization_id),
  constraint consents_sid_fkey FOREIGN KEY (sid, organization_id) REFERENCES oauth.sessions(sid, organization_id) ON DELETE CASCADE,
  constraint consents_consent_hash_length CHECK (octet_length(consent_hash) = 32),
  constraint consents_request_hash_length CHECK (octet_length(request_hash) = 32)
);
comment on table oauth.consents is 'A question that a person was shown and has not answered. The answer takes it away, so there is one.';
comment on column oauth.consents.consent_hash is 'SHA-256 of what the form carries.';
comment on column oauth.consents.request_hash is 'SHA-256 of the authorization request that the person was shown.';

alter table oauth.consents enable row level security, force row level security;

CREATE INDEX consents_sid_idx ON oauth.consents USING btree (sid, organization_id, expires_at);

create policy all_graph_admin on oauth.consents for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on oauth.consents is 'Administration signs people out and purges what expired.';

create policy all_graph_oauth on oauth.consents for all to graph_oauth
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)))
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy all_graph_oauth on oauth.consents is 'The OAuth server begins, reads and ends what belongs to the organization it works for.';

grant delete, insert, select, update on oauth.consents to graph_admin;
grant delete, insert, select on oauth.consents to graph_oauth;
