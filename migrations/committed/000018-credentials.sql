--! Previous: sha1:8e2e9d27df896726500153bb180eaaf4f43c1273
--! Hash: sha1:f0257e347df9bbcc575dc22e5082e830a1a55cc5
--! Message: credentials

-- How a person signs in, apart from the person: no token reads this table.
-- The OAuth server reads it in the organization it works for. It may renew a hash and change nothing else.

create table oauth.credentials (
  organization_id uuid not null,
  user_id uuid not null,
  password_hash text,
  disabled_at timestamptz,
  constraint credentials_pkey primary key (organization_id, user_id),
  constraint credentials_user_id_fkey foreign key (organization_id, user_id) references app_public.users on delete cascade,
  constraint credentials_password_hash_argon2id check (password_hash ~ '^\$argon2id\$' and char_length(password_hash) <= 500)
);
comment on table oauth.credentials is 'How a person signs in: the argon2id hash of the password, and whether the person is disabled.';

alter table oauth.credentials enable row level security, force row level security;
create policy all_graph_admin on oauth.credentials for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on oauth.credentials is 'Administration sets passwords and disables people.';
create policy select_graph_helper on oauth.credentials for select to graph_helper using (true);
comment on policy select_graph_helper on oauth.credentials is 'oauth.verify_access_token asks whether the person is disabled.';
create policy select_graph_oauth on oauth.credentials for select to graph_oauth
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_oauth on oauth.credentials is 'The OAuth server checks passwords of the organization it works for.';
create policy update_graph_oauth on oauth.credentials for update to graph_oauth
  using (organization_id = (select app_hidden.current_organization_id()))
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy update_graph_oauth on oauth.credentials is 'The OAuth server renews a hash whose parameters are out of date when the person signs in.';
grant select, insert, update, delete on oauth.credentials to graph_admin;
grant select (organization_id, user_id, disabled_at) on oauth.credentials to graph_helper;
grant select on oauth.credentials to graph_oauth;
grant update (password_hash) on oauth.credentials to graph_oauth;
