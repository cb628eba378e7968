create table oauth.grants (
  organization_id uuid not null,
  id uuid default app_hidden.uuid_v7() not null,
  application_id uuid not null,
  user_id uuid,
  grant_type text not null,
  scopes text[] not null,
  client_authentication text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  written_lsn pg_lsn,
  constraint grants_pkey PRIMARY KEY (organization_id, id),
  constraint grants_application_id_fkey FOREIGN KEY (organization_id, application_id) REFERENCES oauth.applications(organization_id, id) ON DELETE CASCADE,
  constraint grants_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES app_public.users(organization_id, id) ON DELETE CASCADE,
  constraint grants_client_authentication_known CHECK (client_authentication = ANY (ARRAY['none'::text, 'secret'::text])),
  constraint grants_grant_type_known CHECK (grant_type = ANY (ARRAY['client_credentials'::text, 'password'::text, 'authorization_code'::text])),
  constraint grants_scopes_known CHECK (cardinality(scopes) > 0 AND scopes <@ '{app,basic,me}'::text[]),
  constraint grants_user_id_scopes CHECK ((user_id IS NULL) = (grant_type = 'client_credentials'::text) AND (user_id IS NULL) = (NOT ('me'::text = ANY (scopes))))
);
comment on table oauth.grants is 'What an application was allowed, and how it had authenticated then. Deleting it ends every token below it.';
comment on column oauth.grants.client_authentication is 'How the client authenticated: a refresh needs the same or stronger.';
comment on column oauth.grants.written_lsn is 'Where the log was after the last change by a token of this grant, or when its first token was presented; kept only for servers that ask a replica.';

alter table oauth.grants enable row level security, force row level security;

CREATE INDEX grants_application_id_idx ON oauth.grants USING btree (organization_id, application_id);

CREATE UNIQUE INDEX grants_application_id_scopes_key ON oauth.grants USING btree (organization_id, application_id, scopes) WHERE user_id IS NULL;

CREATE INDEX grants_user_id_idx ON oauth.grants USING btree (organization_id, user_id) WHERE user_id IS NOT NULL;

create policy all_graph_admin on oauth.grants for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on oauth.grants is 'Administration ends grants and purges what expired.';

create policy all_graph_oauth on oauth.grants for all to graph_oauth
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)))
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy all_graph_oauth on oauth.grants is 'The OAuth server issues, uses and ends what belongs to the organization it works for.';

create policy delete_graph_purger on oauth.grants for delete to graph_purger
  using ((organization_id <> ALL ((( SELECT app_hidden.moving_organization_ids() AS moving_organization_ids))::uuid[])) AND NOT (EXISTS ( SELECT
   FROM oauth.access_tokens t
  WHERE t.organization_id = grants.organization_id AND t.grant_id = grants.id)) AND NOT (EXISTS ( SELECT
   FROM oauth.refresh_tokens t
  WHERE t.organization_id = grants.organization_id AND t.grant_id = grants.id)));
comment on policy delete_graph_purger on oauth.grants is 'oauth.purge_tokens deletes grants that have no token left.';

create policy select_graph_helper on oauth.grants for select to graph_helper
  using (true);
comment on policy select_graph_helper on oauth.grants is 'oauth.verify_access_token reads the grant of a token.';

create policy select_graph_purger on oauth.grants for select to graph_purger
  using (organization_id <> ALL ((( SELECT app_hidden.moving_organization_ids() AS moving_organization_ids))::uuid[]));
comment on policy select_graph_purger on oauth.grants is 'oauth.purge_tokens looks for the grants of expired tokens, but of no organization that is being moved, or has moved.';

create policy update_graph_purger on oauth.grants for update to graph_purger
  using (true)
  with check (false);
comment on policy update_graph_purger on oauth.grants is 'oauth.purge_tokens locks grants; it can change none.';

CREATE TRIGGER audit_columns AFTER UPDATE OF user_id, written_lsn ON oauth.grants FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();

CREATE TRIGGER audit_delete AFTER DELETE ON oauth.grants REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('pd');

CREATE TRIGGER audit_insert AFTER INSERT ON oauth.grants REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('pd');

CREATE TRIGGER audit_update AFTER UPDATE ON oauth.grants FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_update('pd');

grant delete, insert, select, update on oauth.grants to graph_admin;
grant select on oauth.grants to graph_helper;
grant delete, insert, select, update on oauth.grants to graph_oauth;
grant delete, select (organization_id, id), update (id) on oauth.grants to graph_purger;
