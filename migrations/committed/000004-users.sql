--! Previous: sha1:32bc6311c42aaefa5a29f1a2ea2214468a4ebbc5
--! Hash: sha1:ba63612633721ebce07fc5a3901eb8eecb4b4ba3
--! Message: users

-- A user is a person of one organization. What signs a person in (password, external token) never leaves the database in clear.

drop table if exists oauth.credentials;
drop table if exists app_public.users;

create table app_public.users (
  organization_id uuid not null,
  id uuid not null default app_hidden.uuid_v7(),
  external_identifier text,
  full_name text not null,
  email text not null,
  email_lowercase text not null generated always as (lower(email)) stored,
  locale text not null default 'en',
  time_zone text not null default 'UTC',
  external_authentication_token_ciphertext bytea,
  external_authentication_token_hash bytea,
  constraint users_pkey primary key (organization_id, id),
  constraint users_organization_id_fkey foreign key (organization_id) references app_hidden.organizations,
  -- Over a column and not an expression: under row-level security only leakproof operators reach an index, and lower is none.
  constraint users_email_key unique (organization_id, email_lowercase),
  constraint users_external_identifier_key unique (organization_id, external_identifier),
  constraint users_external_authentication_token_hash_key unique (organization_id, external_authentication_token_hash),
  constraint users_external_identifier_length check (char_length(external_identifier) between 1 and 200),
  constraint users_full_name_text check (app_hidden.is_text(full_name)),
  constraint users_email_format check (char_length(email) <= 254 and email ~ '^[^@\s\u0001-\u0020\u007f-\u00a0]+@[^@\s\u0001-\u0020\u007f-\u00a0]+$'),
  constraint users_locale_format check (
    char_length(locale) <= 200
    and locale ~* '^([a-z]{2,3}(-[a-z]{3}){0,3}(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*(-[0-9a-wy-z](-[a-z0-9]{2,8})+)*(-x(-[a-z0-9]{1,8})+)?|x(-[a-z0-9]{1,8})+)$'),
  constraint users_time_zone_fkey foreign key (time_zone) references app_hidden.time_zones,
  constraint users_external_authentication_token_pair check (
    (external_authentication_token_ciphertext is null) = (external_authentication_token_hash is null)),
  constraint users_external_authentication_token_length check (
    octet_length(external_authentication_token_ciphertext) <= 4096 and octet_length(external_authentication_token_hash) = 32)
);
-- Orders that clients ask for page by page; each ends in the key, so that it is total.
create index users_full_name_idx on app_public.users (organization_id, full_name, id);
create index users_email_idx on app_public.users (organization_id, email, id);
-- Absent on purpose: an index on time_zone. Time zones are never deleted.

comment on table app_public.users is 'A person of one organization.';
comment on column app_public.users.external_identifier is 'Identifier that the client system assigns to the user; unique in the organization, compared exactly.';
comment on column app_public.users.full_name is 'Full name.';
comment on column app_public.users.email is 'E-mail address; unique in the organization whatever its case.';
comment on column app_public.users.email_lowercase is E'@behavior -*\nThe e-mail address by which it is unique and looked up.';
comment on column app_public.users.locale is 'Locale: a BCP 47 language tag, such as `de` or `de-AT`.';
comment on column app_public.users.time_zone is 'Time zone: an IANA name, such as `Europe/Berlin`, or the city alone, as it was given.';
comment on column app_public.users.external_authentication_token_ciphertext is E'@behavior -*\nExternal authentication token, AES-256-GCM under SECRET_KEY; only the service can read it.';
comment on column app_public.users.external_authentication_token_hash is E'@behavior -*\nKeyed hash of the external authentication token, to look it up.';

-- The comment on a rule is what a client reads when it breaks the rule; @argument names the argument of the mutation.
comment on constraint users_external_identifier_key on app_public.users is E'@argument externalIdentifier\nAnother user has this external identifier.';
comment on constraint users_email_key on app_public.users is E'@argument email\nAnother user has this e-mail address.';
comment on constraint users_external_authentication_token_hash_key on app_public.users is E'@argument externalAuthenticationToken\nAnother user has this external authentication token.';
comment on constraint users_external_identifier_length on app_public.users is E'@argument externalIdentifier\nAn external identifier has 1 to 200 characters.';
comment on constraint users_full_name_text on app_public.users is E'@argument fullName\nA full name has 1 to 200 characters and no control characters.';
comment on constraint users_email_format on app_public.users is E'@argument email\nAn e-mail address has one @, no space and at most 254 characters.';
comment on constraint users_locale_format on app_public.users is E'@argument locale\nA locale is a BCP 47 language tag, such as "de" or "de-AT".';
comment on constraint users_time_zone_fkey on app_public.users is E'@argument timeZone\nA time zone is an IANA name, such as "Europe/Berlin", or the city alone, such as "Berlin".';

alter table app_public.users enable row level security, force row level security;

create policy all_graph_admin on app_public.users for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_public.users is 'Administration sees and changes every user.';
create policy select_graph_app on app_public.users for select to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_app on app_public.users is 'An application sees all users of its organization.';
create policy insert_graph_app on app_public.users for insert to graph_app
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy insert_graph_app on app_public.users is 'An application adds users to its own organization only.';
create policy update_graph_app on app_public.users for update to graph_app
  using (organization_id = (select app_hidden.current_organization_id()))
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy update_graph_app on app_public.users is 'An application changes the users of its organization, and cannot move one elsewhere.';
create policy delete_graph_app on app_public.users for delete to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy delete_graph_app on app_public.users is 'An application deletes users of its organization.';
create policy select_graph_user on app_public.users for select to graph_user
  using (organization_id = (select app_hidden.current_organization_id()) and id = (select app_hidden.current_user_id()));
comment on policy select_graph_user on app_public.users is 'A person sees the own row.';
create policy select_graph_basic on app_public.users for select to graph_basic using (false);
comment on policy select_graph_basic on app_public.users is 'A basic token reads no row.';
create policy select_graph_oauth on app_public.users for select to graph_oauth
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_oauth on app_public.users is 'The OAuth server finds the person who signs in, inside the application''s organization.';

grant select, insert, update, delete on app_public.users to graph_admin;
grant select, insert, delete on app_public.users to graph_app;
grant update (
  external_identifier, full_name, email, locale, time_zone,
  external_authentication_token_ciphertext, external_authentication_token_hash
) on app_public.users to graph_app;
-- The ciphertext is granted so that asking for it is a refusal of one field, not of the whole statement; the hash is nobody's business.
grant select (
  organization_id, id, external_identifier, full_name, email, locale, time_zone, external_authentication_token_ciphertext
) on app_public.users to graph_user, graph_basic;
grant select (organization_id, id, full_name, email, email_lowercase, external_authentication_token_hash) on app_public.users to graph_oauth;

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
